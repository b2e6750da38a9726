/** Reads the decision of each check from the event of a request. */
import { isRecord } from '../../base/record.ts'
import type { ChainedDocument, JsonValue } from '../audit/event/document.ts'
import { checks, decisions, type AuditDecision, type Check } from '../audit/event/verdict.ts'
import type { GatewayConfiguration } from '../gateway-config/configuration.ts'
import { thresholdOf } from '../policy/content.ts'
import type { PolicyVersion } from '../policy/policy.ts'
import { injectionThreshold } from '../scan/injection/injection-detector.ts'
import { flagThreshold } from '../scan/classify/classifier.ts'

/** The outcome of one check, as the event records it. */
export type RecordedOutcome = {
  readonly check: Check
  readonly isDeciding: boolean
  readonly policyId: string | null
  /** The present name of the policy, or the name of the configuration. */
  readonly name: string | null
  readonly version: number | null
  readonly decision: AuditDecision
  /** Null: events of version 0.2 do not record it. */
  readonly isEnforced: boolean | null
  readonly categories: readonly string[]
  /** Where prompt injections were found. */
  readonly places: readonly string[]
  /** Denied terms of the gateway configuration. */
  readonly terms: readonly string[]
  readonly hasNoAllowedTerm: boolean
  readonly personalData: readonly { readonly kind: string; readonly count: number }[]
  readonly scoreBasisPoints: number | null
  readonly thresholdBasisPoints: number | null
  /** The exception that let the request through. */
  readonly exceptionId: string | null
  /** The share of users that the policy was enforced for; null if it had no rollout. */
  readonly rolloutPercent: number | null
}

/** A policy that has a result: its name, unless it is deleted, and the version that decided. */
export type DecidedPolicy = { readonly name: string | null; readonly published: PolicyVersion | undefined }

/** The rules that a request was checked with, in the versions of that time. */
export type EvaluatedRules = {
  /** By `versionKey`. */
  readonly policies: ReadonlyMap<string, DecidedPolicy>
  /** Undefined if none was saved. */
  readonly gateway: GatewayConfiguration | undefined
  /** Policies that applied and have no result, because the response was stopped before they were evaluated. */
  readonly unevaluated?: readonly UnevaluatedPolicy[]
}

export type UnevaluatedPolicy = { readonly id: string; readonly published: PolicyVersion }

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
export function recordedOutcomes(document: ChainedDocument, rules: EvaluatedRules): readonly RecordedOutcome[] {
  if (directionOf(document) === null) return []
  return [
    ...moderationOutcome(document, 'always_blocked'),
    ...(textsIn(document.unmapped.gatehouse['categories_requested']).length > 0
      ? moderationOutcome(document, 'requested')
      : []),
    ...gatewayOutcome(document, rules),
    ...injectionOutcome(document),
    ...policyResultsIn(document).map((result) => policyOutcome(document, result, rules)),
  ]
}

function moderationOutcome(document: ChainedDocument, check: Check): RecordedOutcome[] {
  const result = resultOf(document, check)
  if (result === 'unknown') return []
  const score = result === 'allow' ? null : numberIn(result['score_bp'])
  return [
    {
      ...checkOutcome(document, check, result),
      scoreBasisPoints: score,
      thresholdBasisPoints: score === null ? null : moderationThreshold,
    },
  ]
}

const moderationThreshold = flagThreshold * 10_000

function gatewayOutcome(document: ChainedDocument, { gateway }: EvaluatedRules): RecordedOutcome[] {
  const result = resultOf(document, 'gateway')
  const version = gatewayVersionIn(document)
  if (result === 'unknown' || (result === 'allow' && version === null)) return []
  const outcome = checkOutcome(document, 'gateway', result)
  const own = { ...outcome, name: gateway?.name ?? null, policyId: gateway?.policy_id ?? null, version }
  const matched = result === 'allow' ? undefined : result['matched']
  if (!isRecord(matched)) return [own]
  const { denied_terms: terms, no_allowed_term: hasNone, personal_data: personalData } = matched
  return [
    {
      ...own,
      terms: termsAt(terms, gateway),
      hasNoAllowedTerm: hasNone === true,
      personalData: countsIn(personalData),
    },
  ]
}

/** Nothing unless prompt injections were found: older events do not tell whether a request was scanned for them. */
function injectionOutcome(document: ChainedDocument): RecordedOutcome[] {
  const result = resultOf(document, 'prompt_injection')
  if (result === 'unknown' || result === 'allow') return []
  return [
    {
      ...checkOutcome(document, 'prompt_injection', result),
      scoreBasisPoints: numberIn(result['score_bp']),
      thresholdBasisPoints: injectionThreshold * 10_000,
      places: textsIn(result['places']),
    },
  ]
}

function policyOutcome(
  document: ChainedDocument,
  { policyId, version, result }: PolicyResult,
  rules: EvaluatedRules,
): RecordedOutcome {
  const policy = rules.policies.get(versionKey(policyId, version))
  const isDeciding = decidingCheckOf(document) === 'policy' && document.policy?.uid === policyId
  return {
    ...nothingFound,
    check: 'policy',
    isDeciding,
    policyId,
    name: policy?.name ?? null,
    version,
    decision: decisionIn(result['decision']),
    isEnforced: booleanIn(result['is_enforced']) ?? (isDeciding ? requestIsEnforced(document) : null),
    scoreBasisPoints: numberIn(result['score_bp']),
    exceptionId: textIn(result['exception_id']),
    rolloutPercent: numberIn(result['rollout_percent']),
    // Older events do not record it, and the version of the policy has it as well.
    thresholdBasisPoints:
      numberIn(result['threshold_bp']) ?? (policy?.published ? thresholdOf(policy.published) : null),
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
  policyId: null,
  name: null,
  version: null,
  categories: [],
  places: [],
  terms: [],
  hasNoAllowedTerm: false,
  personalData: [],
  scoreBasisPoints: null,
  thresholdBasisPoints: null,
  exceptionId: null,
  rolloutPercent: null,
}

function checkOutcome(document: ChainedDocument, check: Check, result: Result | 'allow'): RecordedOutcome {
  const own = { ...nothingFound, check, isDeciding: decidingCheckOf(document) === check }
  if (result === 'allow') return { ...own, decision: 'allow', isEnforced: true }
  return {
    ...own,
    decision: decisionIn(result['decision']),
    isEnforced: booleanIn(result['is_enforced']),
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

const countsIn = (counts: JsonValue | undefined): RecordedOutcome['personalData'] =>
  isRecord(counts) ? Object.entries(counts).map(([kind, count]) => ({ kind, count: Number(count) })) : []

const recordsIn = (value: JsonValue | undefined): readonly Result[] =>
  Array.isArray(value) ? value.filter((item): item is Result => isRecord(item)) : []

/** Events of version 0.2 do not name the check, but other fields tell it. */
export function decidingCheckOf({
  policy,
  severity_id: severity,
  unmapped: { gatehouse },
}: ChainedDocument): Check | null {
  const { check, decision, results, categories_triggered: triggered, categories_requested: requested } = gatehouse
  const recorded = checks.find((each) => each === check)
  if (recorded !== undefined) return recorded
  if (policy === undefined || decision === undefined || decision === 'allow') return null
  const ofPolicies = Array.isArray(results) ? results : []
  if (ofPolicies.some((result) => isRecord(result) && result['policy_id'] === policy.uid)) return 'policy'
  if (severity === alwaysBlockedSeverity) return 'always_blocked'
  const asked = textsIn(requested)
  const found = textsIn(triggered)
  return found.length > 0 && found.every((category) => asked.includes(category)) ? 'requested' : 'gateway'
}

/** Only always-blocked categories have it. */
const alwaysBlockedSeverity = 4

export const decisionIn = (value: JsonValue | undefined): AuditDecision =>
  decisions.find((decision) => decision === value) ?? 'not_evaluated'

export const textIn = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)

export const numberIn = (value: JsonValue | undefined): number | null => (typeof value === 'number' ? value : null)

export const textsIn = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
