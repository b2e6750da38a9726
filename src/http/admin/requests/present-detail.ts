import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { keptTexts } from '../../../domain/audit/event/content.ts'
import { isRecord } from '../../../base/record.ts'
import type { ChainedDocument } from '../../../domain/audit/event/document.ts'
import type { ChainContext, LoggedEvent } from '../../../domain/audit/log.ts'
import { classifierIn } from '../../../domain/explanation/recorded-facts.ts'
import {
  directionOf,
  numberIn,
  recordedOutcomes,
  textsIn,
  type EvaluatedRules,
  type RecordedOutcome,
} from '../../../domain/explanation/recorded-outcomes.ts'
import { modelSwitchOf } from './model-switch.ts'
import { presentRequest } from './present.ts'
import type { RequestDetailObject } from './schema.ts'
import { timelineOf } from './timeline.ts'

type Detail = Static<typeof RequestDetailObject>

export type DetailContext = EvaluatedRules & {
  readonly chain: ChainContext
  readonly content: Detail['content']
}

export function presentDetail(event: LoggedEvent, { chain, content, ...rules }: DetailContext): Detail {
  const { document } = event
  const row = presentRequest(event)
  return {
    ...row,
    address: document.src_endpoint.ip ?? document.src_endpoint.name ?? null,
    user_agent: document.http_request?.user_agent ?? null,
    tags: tagsOf(document),
    model_switch: modelSwitchOf(document),
    finish_reasons: textsIn(document.unmapped.gen_ai?.['response.finish_reasons']),
    timeline: timelineOf(document, row),
    direction: directionOf(document),
    outcomes: recordedOutcomes(document, rules).map(presentRecordedOutcome),
    classifier: classifierIn(document.unmapped.gatehouse['classifier']),
    receipt: receiptOf(document),
    proof: proofOf(row, chain),
    is_content_kept: keptTexts(event.content) !== undefined,
    content,
  }
}

/** Values are texts. */
function tagsOf({ unmapped }: ChainedDocument): Detail['tags'] {
  const { tags } = unmapped.gatehouse
  return isRecord(tags) ? Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)])) : {}
}

const presentRecordedOutcome = (outcome: RecordedOutcome): Detail['outcomes'][number] => ({
  check: outcome.check,
  is_deciding: outcome.isDeciding,
  policy_id: outcome.policyId,
  name: outcome.name,
  version: outcome.version,
  decision: outcome.decision,
  is_enforced: outcome.isEnforced,
  categories: [...outcome.categories],
  terms: [...outcome.terms],
  places: [...outcome.places],
  has_no_allowed_term: outcome.hasNoAllowedTerm,
  personal_data: outcome.personalData.map((each) => ({ ...each })),
  score_bp: outcome.scoreBasisPoints,
  threshold_bp: outcome.thresholdBasisPoints,
  exception_id: outcome.exceptionId,
})

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
