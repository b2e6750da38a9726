import type { InjectionPlace } from '../../scan/injection/places.ts'
import type { ClassifierIdentity, SecondStage, TextDirection } from '../../scan/classify/classifier.ts'

/** Decisions of the checks, named as in the simulate endpoint. `not_evaluated` never counts as `allow`. */
export const decisions = ['allow', 'redact', 'rewrite', 'summary', 'escalate', 'refuse', 'not_evaluated'] as const
export type AuditDecision = (typeof decisions)[number]

/** In the order of evaluation. If two checks decide the same, the first is the deciding one. */
export const checks = ['always_blocked', 'requested', 'gateway', 'prompt_injection', 'policy'] as const
export type Check = (typeof checks)[number]

export type VerdictFacts = {
  readonly decision: AuditDecision
  /** False in shadow and monitoring mode: the decision was recorded but not applied. */
  readonly isEnforced: boolean
  readonly reasonCode?: string | undefined
  /** The check that determined the decision; undefined if everything is allowed. */
  readonly check?: Check | undefined
  /** Causes that change the OCSF severity or disposition of the decision. */
  readonly cause?: 'quota' | 'always_blocked' | undefined
  /** The policy that determined the decision. */
  readonly policy?: PolicyFacts | undefined
  /** One result for each evaluated policy. */
  readonly results?: readonly PolicyResult[] | undefined
  /** The results of all checks but policies, without those that allow. */
  readonly checkResults?: readonly CheckResult[] | undefined
  /** The version of the gateway configuration that was evaluated; undefined if none is saved. */
  readonly gatewayVersion?: number | undefined
  readonly direction?: TextDirection | undefined
  readonly rolloutMode?: string | undefined
  readonly categoriesTriggered?: readonly string[] | undefined
  readonly categoriesRequested?: readonly string[] | undefined
  readonly matchScoreBasisPoints?: number | undefined
  /** How much of the answer was checked before any of it was sent. */
  readonly coverage?: 'held_back' | 'paragraph' | 'whole' | undefined
  /** The classifier that scored the texts, and the stage that decided. */
  readonly classifier?: ClassifierFacts | undefined
  /** The judge that evaluated rules in plain language; undefined if there is none among the results. */
  readonly judge?: string | undefined
  /** The organization's data classification label. */
  readonly dataClassification?: string | undefined
}

export type ClassifierFacts = Pick<ClassifierIdentity, 'id' | 'version'> & {
  /** `linear`: the first stage, which needed no second. */
  readonly stage: SecondStage | 'linear'
}

export type PolicyFacts = {
  readonly id: string
  readonly name?: string | undefined
  readonly version?: number | string | undefined
}

export type PolicyResult = {
  readonly policyId: string | null
  readonly version: number | null
  readonly decision: AuditDecision
  /** False for a policy that is monitoring. */
  readonly isEnforced: boolean
  readonly scoreBasisPoints?: number | undefined
  /** The score from which the policy matches. */
  readonly thresholdBasisPoints?: number | undefined
  /** The exception that let the text through. */
  readonly exceptionId?: string | undefined
  /** The guard of the policy kept all texts from its judge. */
  readonly judge?: 'skipped' | undefined
  /** The rollout of the policy; `isEnforced` tells the side. */
  readonly rollout?: { readonly percent: number } | undefined
}

export type CheckResult = {
  readonly check: Check
  readonly decision: AuditDecision
  readonly isEnforced: boolean
  readonly triggeredCategories: readonly string[]
  readonly scoreBasisPoints?: number | undefined
  readonly matched?: GatewayMatch | undefined
  /** Where prompt injections were found. */
  readonly places?: readonly InjectionPlace[] | undefined
}

/** What the gateway configuration matched in a text. */
export type GatewayMatch = {
  /** Positions in the denylist, because the audit log must not repeat parts of a text. */
  readonly deniedTerms: readonly number[]
  /** True if a request contains none of the allowed terms. */
  readonly hasNoAllowedTerm: boolean
  /** How many of each kind were replaced. */
  readonly personalData: Readonly<Record<string, number>>
}

/** OCSF `action_id` and `disposition_id`. */
export function actionOf({
  decision,
  isEnforced,
  cause,
}: VerdictFacts): readonly [action: number, disposition: number] {
  if (decision === 'not_evaluated') return [0, 27] // unknown, error
  if (decision === 'allow') return [1, 1] // allowed
  if (!isEnforced) return [3, 17] // observed, logged
  if (cause === 'quota' || decision === 'escalate') return [2, 25] // denied, rejected
  if (decision === 'refuse') return [2, 2] // denied, blocked
  return [4, 11] // modified, corrected
}

/** OCSF `severity_id`, from 1 (informational) to 4 (high). */
export function severityOf({ decision, isEnforced, cause }: VerdictFacts): number {
  if (cause === 'always_blocked') return 4
  if (decision === 'allow' || !isEnforced) return 1
  return isDenial(decision) || decision === 'not_evaluated' ? 3 : 2
}

export const isDenial = (decision: AuditDecision): boolean => decision === 'refuse' || decision === 'escalate'

/** The `policy` object in answers and error responses. */
export type PolicyObject = Readonly<Record<string, unknown>>

/** The verdict in a `policy` object. Without one, the request was rejected before the checks. */
export function verdictOf(policy: PolicyObject | undefined): VerdictFacts {
  if (!policy) return { decision: 'not_evaluated', isEnforced: false }
  const text = (name: string): string | undefined => {
    const value = policy[name]
    return typeof value === 'string' ? value : undefined
  }
  const { policy_id: id, version, triggered_categories: categories } = policy
  return {
    decision: decisions.find((decision) => decision === policy['decision']) ?? 'not_evaluated',
    isEnforced: policy['enforced'] !== false,
    reasonCode: text('reason_code'),
    cause: text('reason_code')?.endsWith('_QUOTA_EXCEEDED') ? 'quota' : undefined,
    rolloutMode: text('rollout_mode'),
    ...(typeof id === 'string' && { policy: { id, version: typeof version === 'number' ? version : undefined } }),
    ...(Array.isArray(categories) && {
      categoriesTriggered: categories.filter((category) => typeof category === 'string'),
    }),
  }
}

/** The event id that was sent to the caller. */
export function announcedId(policy: PolicyObject | undefined): string | undefined {
  const id = policy?.['event_id']
  return typeof id === 'string' ? id : undefined
}
