import { decisions, type VerdictFacts } from './verdict.ts'

/** What callers are told of a decision (`policy` in answers and refusals). */
export type PolicyObject = Readonly<Record<string, unknown>>

/** The same, as the log says it. Without such an object the request never came as far as the checks. */
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
    ...(Array.isArray(categories) && { categoriesTriggered: categories.filter((word) => typeof word === 'string') }),
  }
}

/** The id under which the event was announced to the caller. */
export function announcedId(policy: PolicyObject | undefined): string | undefined {
  const id = policy?.['event_id']
  return typeof id === 'string' ? id : undefined
}
