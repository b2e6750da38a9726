/** Formats a verdict for the caller, for error responses and for the audit log. */
import { Fault } from '../../../base/fault.ts'
import type { CheckResult, VerdictFacts } from '../../audit/event/verdict.ts'
import type { InjectionPlace } from '../../scan/injection/places.ts'
import type { TextDirection } from '../../scan/classify/classifier.ts'
import type { Decision, Verdict } from './combine.ts'
import type { Plan } from '../plan.ts'
import type { ActivePolicy } from '../rulebook.ts'

/** Where a caller learns more about a denial: the fields of the `policy` object. */
export type DenialAddresses = { readonly explain_url: string; readonly appeal_url?: string }

/** The `policy` object of responses and error responses. It identifies the rule and the audit event. */
export function policyObject(
  { decision, effectiveDecision, deciding }: Verdict,
  eventId: string | undefined,
  addresses?: DenialAddresses,
) {
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
    ...addresses,
  }
}

export type VerdictContext = {
  readonly plan: Plan
  readonly direction: TextDirection
  readonly coverage?: VerdictFacts['coverage']
}

/** The verdict for the audit log, with the decision of each check. */
export function verdictFacts(verdict: Verdict, { plan, direction, coverage }: VerdictContext): VerdictFacts {
  const { deciding } = verdict
  const isByPolicy = deciding !== undefined && deciding.policyId !== null
  return {
    decision: verdict.decision,
    isEnforced: deciding?.isEnforced ?? true,
    reasonCode: deciding?.reasonCode,
    check: deciding?.check,
    cause: deciding?.check === 'always_blocked' ? 'always_blocked' : undefined,
    ...(isByPolicy && { policy: policyFacts(deciding, plan) }),
    results: resultsOf(verdict.decisions),
    checkResults: checkResultsOf(verdict.decisions),
    gatewayVersion: plan.gateway.version === 0 ? undefined : plan.gateway.version,
    direction,
    rolloutMode: deciding?.rolloutMode,
    categoriesTriggered: deciding?.triggeredCategories,
    categoriesRequested: plan.requested.length === 0 ? undefined : plan.requested,
    matchScoreBasisPoints: deciding?.scoreBasisPoints,
    coverage,
    classifier: plan.stageLog?.decidedBy(deciding === undefined ? undefined : direction),
    judge: judgeOf(plan, verdict),
    dataClassification: plan.gateway.config.org_controls.data_classification ?? undefined,
  }
}

/** An organization has one judge, so every rule that has one has the same. */
function judgeOf({ policies }: Plan, { decisions }: Verdict): string | undefined {
  const isJudged = ({ id, rule }: ActivePolicy): boolean =>
    rule.judgeVersion !== undefined && decisions.some(({ policyId }) => policyId === id)
  return (policies.request.find(isJudged) ?? policies.response.find(isJudged))?.rule.judgeVersion
}

/** Moderation has no name of its own: its category is the name. */
function policyFacts({ check, policyId, version }: Decision, { policies, gateway }: Plan): VerdictFacts['policy'] {
  const byPolicy = [...policies.request, ...policies.response].find(({ id }) => id === policyId)
  const name =
    check === 'gateway' ? (gateway.config.name ?? undefined) : check === 'policy' ? byPolicy?.name : undefined
  return { id: policyId ?? '', name, version: version ?? undefined }
}

function resultsOf(decisions: readonly Decision[]): VerdictFacts['results'] {
  const ofPolicies = decisions.filter(({ check }) => check === 'policy')
  return ofPolicies.length === 0 ? undefined : ofPolicies
}

function checkResultsOf(decisions: readonly Decision[]): readonly CheckResult[] | undefined {
  const others = decisions.filter(({ check, decision }) => check !== 'policy' && decision !== 'allow')
  return others.length === 0 ? undefined : others
}

export type DenialText = {
  /** The policies and the gateway configuration, for the name of the one that denies. */
  readonly plan: Plan
  /** Shown if a request about self-harm is blocked: kind, short, and pointing to help. */
  readonly crisis: string
}

/** The error response for a denied request. */
export function denialFault(verdict: Verdict, policy: Fault['details']['policy'], texts: DenialText): Fault {
  const { deciding } = verdict
  const details = policy === undefined ? {} : { policy }
  if (deciding?.check === 'always_blocked' || deciding?.check === 'requested') {
    const categories = deciding.triggeredCategories
    const message = categories.includes('self-harm') ? texts.crisis : `Blocked by moderation: ${categories.join(', ')}.`
    return new Fault('moderation', 'moderation_blocked', message, details)
  }
  return new Fault('policy', 'policy_blocked', policyMessage(verdict, texts), details)
}

function policyMessage({ deciding, effectiveDecision }: Verdict, { plan }: DenialText): string {
  const which = deciderName(deciding, plan)
  if (effectiveDecision === 'escalate') {
    const { escalation_path: path } = plan.gateway.config.refusal_replacement
    return `Denied by ${which}, and escalated for review.${path === null ? '' : ` Escalation path: ${path}`}`
  }
  if (deciding?.check === 'prompt_injection')
    return `Denied: ${placeNames(deciding.places)} contains a prompt injection.`
  return deciding?.decision === 'not_evaluated'
    ? `Denied: ${which} could not be evaluated.`
    : `Denied by ${which} (${deciding?.reasonCode ?? 'REFUSE'}).`
}

const placeNames = (places: readonly InjectionPlace[] = []): string =>
  places.map((place) => placeName[place]).join(' and ')

const placeName: Readonly<Record<InjectionPlace, string>> = {
  tool_results: 'a tool result',
  documents: 'a document',
  user_text: 'the text of a user message',
}

/** The policy with its name and id, as an administrator finds it. */
function deciderName(deciding: Decision | undefined, plan: Plan): string {
  if (deciding === undefined || deciding.policyId === null) return 'a rule'
  const { config } = plan.gateway
  const name = deciding.check === 'policy' ? policyFacts(deciding, plan)?.name : config.name
  return name ? `the policy "${name}" (${deciding.policyId})` : `the policy ${deciding.policyId}`
}
