import type { Static } from 'typebox'
import { isRecord } from '../../../base/record.ts'
import type { ChainedDocument, JsonValue } from '../../../domain/audit/event/document.ts'
import type { Check } from '../../../domain/audit/event/verdict.ts'
import type { GatewayConfiguration } from '../../../domain/gateway-config/configuration.ts'
import { thresholdOf } from '../../../domain/policy/content.ts'
import type { PolicyVersion } from '../../../domain/policy/policy.ts'
import { flagThreshold } from '../../../domain/scan/classify/classifier.ts'
import { decidingCheckOf, decisionIn, numberIn, textsIn } from './present.ts'
import type { RequestDetailObject } from './schema.ts'

type Outcome = Static<typeof RequestDetailObject>['outcomes'][number]

/** A policy that has a result: its name, unless it is deleted, and the version that decided. */
export type DecidedPolicy = { readonly name: string | null; readonly published: PolicyVersion | undefined }

/** The rules that a request was checked with, in the versions of that time. */
export type EvaluatedRules = {
  /** By `versionKey`. */
  readonly policies: ReadonlyMap<string, DecidedPolicy>
  /** Undefined if none was saved. */
  readonly gateway: GatewayConfiguration | undefined
}

/** Names a policy version in `EvaluatedRules.policies`. */
export const versionKey = (policyId: string, version: number | null): string => `${policyId} ${version ?? ''}`

type Result = { readonly [key: string]: JsonValue | undefined }
type PolicyResult = { readonly policyId: string; readonly version: number | null; readonly result: Result }

/** The results of policies, as the event records them. */
export const policyResultsIn = ({ unmapped: { gatehouse } }: ChainedDocument): readonly PolicyResult[] =>
  recordsIn(gatehouse['results']).map((result) => ({
    policyId: String(result['policy_id']),
    version: numberIn(result['version']),
    result,
  }))

/** The version of the gateway configuration that was evaluated. Events of version 0.2 name it only if it decided. */
export function gatewayVersionIn(document: ChainedDocument): number | null {
  const recorded = numberIn(document.unmapped.gatehouse['gateway_version'])
  const check = decidingCheckOf(document)
  if (recorded !== null || check === null || check === 'policy') return recorded
  const version = Number(document.policy?.version)
  return Number.isInteger(version) && version > 0 ? version : null
}

/** What was checked last; null if the request was rejected before the checks. */
export function directionOf({ unmapped }: ChainedDocument): 'request' | 'response' | null {
  const { direction } = unmapped.gatehouse
  return direction === 'request' || direction === 'response' ? direction : null
}

/** Every check that ran, in the order of evaluation. */
export function outcomesOf(document: ChainedDocument, rules: EvaluatedRules): Outcome[] {
  if (directionOf(document) === null) return []
  return [
    ...moderationOutcome(document, 'always_blocked'),
    ...(textsIn(document.unmapped.gatehouse['categories_requested']).length > 0
      ? moderationOutcome(document, 'requested')
      : []),
    ...gatewayOutcome(document, rules),
    ...policyResultsIn(document).map((result) => policyOutcome(document, result, rules)),
  ]
}

function moderationOutcome(document: ChainedDocument, check: Check): Outcome[] {
  const result = resultOf(document, check)
  if (result === 'unknown') return []
  const score = result === 'allow' ? null : numberIn(result['score_bp'])
  return [
    {
      ...checkOutcome(document, check, result),
      score_bp: score,
      threshold_bp: score === null ? null : moderationThreshold,
    },
  ]
}

const moderationThreshold = flagThreshold * 10_000

function gatewayOutcome(document: ChainedDocument, { gateway }: EvaluatedRules): Outcome[] {
  const result = resultOf(document, 'gateway')
  const version = gatewayVersionIn(document)
  if (result === 'unknown' || (result === 'allow' && version === null)) return []
  const outcome = checkOutcome(document, 'gateway', result)
  const own = { ...outcome, name: gateway?.name ?? null, policy_id: gateway?.policy_id ?? null, version }
  const matched = result === 'allow' ? undefined : result['matched']
  if (!isRecord(matched)) return [own]
  const { denied_terms: terms, no_allowed_term: hasNone, personal_data: personalData } = matched
  return [
    {
      ...own,
      terms: termsAt(terms, gateway),
      has_no_allowed_term: hasNone === true,
      personal_data: countsIn(personalData),
    },
  ]
}

function policyOutcome(
  document: ChainedDocument,
  { policyId, version, result }: PolicyResult,
  rules: EvaluatedRules,
): Outcome {
  const policy = rules.policies.get(versionKey(policyId, version))
  const isDeciding = decidingCheckOf(document) === 'policy' && document.policy?.uid === policyId
  return {
    ...nothingFound,
    check: 'policy',
    is_deciding: isDeciding,
    policy_id: policyId,
    name: policy?.name ?? null,
    version,
    decision: decisionIn(result['decision']),
    is_enforced: booleanIn(result['is_enforced']) ?? (isDeciding ? requestIsEnforced(document) : null),
    score_bp: numberIn(result['score_bp']),
    threshold_bp: policy?.published ? thresholdOf(policy.published) : null,
  }
}

/** The recorded result of a check other than a policy. A check without one allowed the request. */
function resultOf(document: ChainedDocument, check: Check): Result | 'allow' | 'unknown' {
  const { gatehouse } = document.unmapped
  const deciding = decidingCheckOf(document)
  if (deciding === null) return 'allow'
  const recorded = recordsIn(gatehouse['check_results']).find((result) => result['check'] === check)
  if (recorded !== undefined) return recorded
  if (gatehouse['check'] !== undefined) return 'allow'
  // An event of version 0.2 records the deciding check alone.
  if (deciding !== check) return 'unknown'
  const { decision, is_enforced: isEnforced, categories_triggered: categories, match_score_bp: score } = gatehouse
  return { decision, is_enforced: isEnforced, categories, score_bp: score }
}

const nothingFound = {
  policy_id: null,
  name: null,
  version: null,
  categories: [],
  terms: [],
  has_no_allowed_term: false,
  personal_data: [],
  score_bp: null,
  threshold_bp: null,
}

function checkOutcome(document: ChainedDocument, check: Check, result: Result | 'allow'): Outcome {
  const own = { ...nothingFound, check, is_deciding: decidingCheckOf(document) === check }
  if (result === 'allow') return { ...own, decision: 'allow', is_enforced: true }
  return {
    ...own,
    decision: decisionIn(result['decision']),
    is_enforced: booleanIn(result['is_enforced']),
    categories: textsIn(result['categories']),
  }
}

const requestIsEnforced = ({ unmapped }: ChainedDocument): boolean | null =>
  booleanIn(unmapped.gatehouse['is_enforced'])

const booleanIn = (value: JsonValue | undefined): boolean | null => (typeof value === 'boolean' ? value : null)

/** The log has the positions of the terms in the denylist. */
function termsAt(positions: JsonValue | undefined, gateway: GatewayConfiguration | undefined): string[] {
  if (!Array.isArray(positions) || gateway === undefined) return []
  return positions.flatMap((at) => gateway.rules.denylist[Number(at)] ?? [])
}

const countsIn = (counts: JsonValue | undefined): Outcome['personal_data'] =>
  isRecord(counts) ? Object.entries(counts).map(([kind, count]) => ({ kind, count: Number(count) })) : []

const recordsIn = (value: JsonValue | undefined): readonly Result[] =>
  Array.isArray(value) ? value.filter((item): item is Result => isRecord(item)) : []
