/** A verdict in the words of those who read it: callers, and the audit log. */
import { Fault } from '../../../base/fault.ts'
import type { VerdictFacts } from '../../audit/event/verdict.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { CheckOutcome, Verdict } from './outcome.ts'
import type { Plan } from '../rules/plan.ts'

/** The `policy` object of answers and refusals: from it to the rule and to the event is one look-up. */
export function policyObject({ decision, effectiveDecision, deciding }: Verdict, eventId: string | undefined) {
  return {
    decision,
    effective_decision: effectiveDecision,
    enforced: deciding?.isEnforced ?? true,
    rollout_mode: deciding?.rolloutMode ?? 'enforced',
    reason_code: deciding?.reasonCode ?? decision.toUpperCase(),
    policy_id: deciding?.policyId ?? null,
    version: deciding?.version ?? null,
    triggered_categories: deciding?.triggeredCategories ?? [],
    ...(eventId !== undefined && { event_id: eventId }),
  }
}

export type VerdictContext = {
  readonly plan: Plan
  readonly direction: TextDirection
  readonly coverage?: VerdictFacts['coverage']
}

/** The verdict as the audit log has it: also what each policy said. */
export function verdictFacts(verdict: Verdict, { plan, direction, coverage }: VerdictContext): VerdictFacts {
  const { deciding } = verdict
  const isByPolicy = deciding !== undefined && deciding.policyId !== null
  return {
    decision: verdict.decision,
    isEnforced: deciding?.isEnforced ?? true,
    reasonCode: deciding?.reasonCode,
    cause: deciding?.check === 'always_blocked' ? 'always_blocked' : undefined,
    ...(isByPolicy && { policy: policyFacts(deciding, plan) }),
    results: resultsOf(verdict.outcomes),
    direction,
    rolloutMode: deciding?.rolloutMode,
    categoriesTriggered: deciding?.triggeredCategories,
    categoriesRequested: plan.requested.length === 0 ? undefined : plan.requested,
    matchScoreBasisPoints: deciding?.scoreBasisPoints,
    coverage,
    dataClassification: plan.gateway.config.org_controls.data_classification ?? undefined,
  }
}

function policyFacts({ policyId, version }: CheckOutcome, { policies }: Plan): VerdictFacts['policy'] {
  const decided = [...policies.request, ...policies.response].find(({ id }) => id === policyId)
  return { id: policyId ?? '', name: decided?.name, version: version ?? undefined }
}

function resultsOf(outcomes: readonly CheckOutcome[]): VerdictFacts['results'] {
  const ofPolicies = outcomes.filter(({ check }) => check === 'policy')
  if (ofPolicies.length === 0) return undefined
  return ofPolicies.map(({ policyId, version, decision, scoreBasisPoints }) => ({
    policyId: policyId ?? '',
    version,
    decision,
    scoreBasisPoints,
  }))
}

export type DenialText = {
  /** Said to whoever may be in need: kind, short, and pointing to help. */
  readonly crisis: string
  readonly escalationPath: string | null
}

/** How a request that is denied is refused. */
export function denialFault(verdict: Verdict, policy: Fault['details']['policy'], words: DenialText): Fault {
  const { deciding } = verdict
  const details = policy === undefined ? {} : { policy }
  if (deciding?.check === 'always_blocked' || deciding?.check === 'requested') {
    const categories = deciding.triggeredCategories
    const message = categories.includes('self-harm') ? words.crisis : `Blocked by moderation: ${categories.join(', ')}.`
    return new Fault('moderation', 'moderation_blocked', message, details)
  }
  return new Fault('policy', 'policy_blocked', policyMessage(verdict, words), details)
}

function policyMessage({ deciding, effectiveDecision }: Verdict, { escalationPath }: DenialText): string {
  if (effectiveDecision === 'escalate') {
    const where = escalationPath === null ? '' : ` Escalation path: ${escalationPath}`
    return `Refused for now, and marked for review.${where}`
  }
  const which = deciding?.policyId === null ? 'a rule' : `the policy ${deciding?.policyId ?? ''}`
  return deciding?.decision === 'not_evaluated'
    ? `Refused: ${which} could not be evaluated.`
    : `Refused by ${which} (${deciding?.reasonCode ?? 'REFUSE'}).`
}
