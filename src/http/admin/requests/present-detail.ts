import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { isRecord } from '../../../base/record.ts'
import { keptTexts } from '../../../domain/audit/event/content.ts'
import type { ChainedDocument, JsonValue } from '../../../domain/audit/event/document.ts'
import type { ChainContext, LoggedEvent } from '../../../domain/audit/log.ts'
import { thresholdOf } from '../../../domain/policy/content.ts'
import { secondStages } from '../../../domain/scan/classify/classifier.ts'
import type { PolicyVersion } from '../../../domain/policy/policy.ts'
import { decisionIn, numberIn, presentRequest, textsIn } from './present.ts'
import type { RequestDetailObject } from './schema.ts'
import { timelineOf } from './timeline.ts'

type Detail = Static<typeof RequestDetailObject>

/** A policy that has a result: its name, unless it is deleted, and the version that decided. */
export type DecidedPolicy = { readonly name: string | null; readonly published: PolicyVersion | undefined }

export type DetailContext = {
  readonly chain: ChainContext
  /** By policy id and version. */
  readonly policies: ReadonlyMap<string, DecidedPolicy>
  readonly content: Detail['content']
}

export function presentDetail(event: LoggedEvent, { chain, policies, content }: DetailContext): Detail {
  const { document } = event
  const row = presentRequest(event)
  return {
    ...row,
    address: document.src_endpoint.ip ?? document.src_endpoint.name ?? null,
    user_agent: document.http_request?.user_agent ?? null,
    finish_reasons: textsIn(document.unmapped.gen_ai?.['response.finish_reasons']),
    timeline: timelineOf(document, row),
    outcomes: outcomesOf(document, policies),
    classifier: classifierOf(document),
    receipt: receiptOf(document),
    proof: proofOf(row, chain),
    is_content_kept: keptTexts(event.content) !== undefined,
    content,
  }
}

/** Names a policy version in `DetailContext.policies`. */
export const versionKey = (policyId: string, version: number | null): string => `${policyId} ${version ?? ''}`

/** The results of policies, as the event records them. */
export function resultsIn({
  unmapped,
}: ChainedDocument): { policyId: string; version: number | null; result: Result }[] {
  const { results } = unmapped.gatehouse
  if (!Array.isArray(results)) return []
  return results.filter(isResult).map((result) => ({
    policyId: String(result['policy_id']),
    version: numberIn(result['version']),
    result,
  }))
}

type Result = { readonly [key: string]: JsonValue | undefined }
const isResult = (value: JsonValue): value is Result => isRecord(value)

function outcomesOf(document: ChainedDocument, policies: DetailContext['policies']): Detail['outcomes'] {
  const { gatehouse } = document.unmapped
  const isEnforced = gatehouse['is_enforced'] === true
  const ofPolicies = resultsIn(document).map(({ policyId, version, result }): Detail['outcomes'][number] => {
    const policy = policies.get(versionKey(policyId, version))
    return {
      check: 'policy',
      policy_id: policyId,
      name: policy?.name ?? null,
      version,
      decision: decisionIn(result['decision']),
      is_enforced: isEnforced,
      score_bp: numberIn(result['score_bp']),
      threshold_bp: policy?.published ? thresholdOf(policy.published) : null,
    }
  })
  const ofCategories = textsIn(gatehouse['categories_triggered']).map((name): Detail['outcomes'][number] => ({
    check: 'category',
    policy_id: null,
    name,
    version: null,
    decision: decisionIn(gatehouse['decision']),
    is_enforced: isEnforced,
    score_bp: null,
    threshold_bp: null,
  }))
  return [...ofCategories, ...ofPolicies]
}

function classifierOf({ unmapped: { gatehouse } }: ChainedDocument): Detail['classifier'] {
  const { classifier } = gatehouse
  if (!isRecord(classifier)) return null
  const { id, version, stage } = classifier
  const known = (['linear', ...secondStages] as const).find((one) => one === stage)
  return known === undefined ? null : { id: String(id), version: String(version), stage: known }
}

function receiptOf({ message_context: context, unmapped: { gatehouse } }: ChainedDocument): Detail['receipt'] {
  const costUsd = numberIn(gatehouse['cost_usd'])
  if (context?.prompt_tokens === undefined || costUsd === null) return null
  const source = gatehouse['usage_source']
  return {
    input_tokens: context.prompt_tokens,
    output_tokens: context.completion_tokens ?? 0,
    cost_usd: costUsd,
    credits: numberIn(gatehouse['credits_used']),
    usage_source: typeof source === 'string' ? source : null,
  }
}

function proofOf({ sequence }: { readonly sequence: number }, chain: ChainContext): Detail['proof'] {
  const at = (wanted: number) => {
    const fingerprint = chain.fingerprints.get(wanted)
    return fingerprint === undefined ? null : { sequence: wanted, fingerprint }
  }
  const { checkpoint } = chain
  return {
    sequence,
    fingerprint: chain.fingerprints.get(sequence) ?? '',
    previous: at(sequence - 1),
    next: at(sequence + 1),
    checkpoint: checkpoint && {
      sequence: checkpoint.sequence,
      signed_at: toUnixSeconds(checkpoint.time),
      key_id: checkpoint.key_id,
    },
  }
}
