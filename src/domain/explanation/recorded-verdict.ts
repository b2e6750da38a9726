/** The verdict of an event, in the form that `combine` reads, so that a check can be changed or left out. */
import { rowOf } from '../audit/chain/chained-event.ts'
import type { ChainedDocument } from '../audit/event/document.ts'
import { isDenial } from '../audit/event/verdict.ts'
import { combine, type Decision, type Verdict } from '../evaluation/verdict/combine.ts'
import type { RolloutMode } from '../gateway-config/rollout.ts'
import {
  decisionIn,
  recordedOutcomes,
  textsIn,
  type EvaluatedRules,
  type RecordedOutcome,
} from './recorded-outcomes.ts'

/** What happened to the request. */
export function recordedEffect(document: ChainedDocument): Decision['effect'] {
  const { decision: recorded, is_enforced: isEnforced } = document.unmapped.gatehouse
  const decision = decisionIn(recorded)
  if (decision === 'not_evaluated') return isStopped(document) ? 'refuse' : 'allow'
  return isEnforced === false ? 'allow' : decision
}

/** A request that is denied because a rule failed has an error, and a response ends as filtered. */
function isStopped(document: ChainedDocument): boolean {
  const reasons = textsIn(document.unmapped.gen_ai?.['response.finish_reasons'])
  return rowOf(document, '').errorCode === 'policy_blocked' || reasons.includes('filtered')
}

export const recordedVerdict = (document: ChainedDocument, rules: EvaluatedRules): Verdict =>
  combine(recordedOutcomes(document, rules).map((outcome) => decisionOf(outcome, document)))

/** A rule that was not evaluated has the effect that such rules had on this request. */
export function decisionOf(outcome: RecordedOutcome, document: ChainedDocument): Decision {
  const { check, decision, policyId, version, categories, isEnforced } = outcome
  const effect = decision === 'not_evaluated' ? unevaluatedEffect(document) : decision
  const mode: RolloutMode = isEnforced === false ? 'shadow' : 'enforced'
  return {
    check,
    decision,
    effect,
    isEnforced: isEnforced !== false,
    rolloutMode: mode,
    reasonCode: decision.toUpperCase(),
    policyId,
    version,
    triggeredCategories: categories,
    scoreBasisPoints: outcome.scoreBasisPoints ?? undefined,
    thresholdBasisPoints: outcome.thresholdBasisPoints ?? undefined,
    exceptionId: outcome.exceptionId ?? undefined,
  }
}

function unevaluatedEffect(document: ChainedDocument): Decision['effect'] {
  const isDeciding = document.unmapped.gatehouse['decision'] === 'not_evaluated'
  return isDeciding && isDenial(recordedEffect(document)) ? 'refuse' : 'allow'
}

/** True if the change lets the text pass: nothing happens to it, or if nothing did, no check matches. */
export const passesAfter = (before: Verdict, after: Verdict): boolean =>
  before.effectiveDecision === 'allow' ? after.decision === 'allow' : after.effectiveDecision === 'allow'

/** The verdict with another threshold of one policy. */
export function withThreshold({ decisions }: Verdict, policyId: string, threshold: number): Verdict {
  return combine(
    decisions.map((one) => {
      const isOther = one.check !== 'policy' || one.policyId !== policyId
      const isBelow = one.scoreBasisPoints !== undefined && one.scoreBasisPoints < threshold
      return isOther || one.decision !== 'refuse' || !isBelow ? one : { ...one, decision: 'allow', effect: 'allow' }
    }),
  )
}
