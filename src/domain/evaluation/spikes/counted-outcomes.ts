import { isDenial } from '../../audit/event/verdict.ts'
import type { CheckOutcome } from '../verdict/outcome.ts'

/** What one version said about one request. */
export type CountedOutcome = { readonly subject: string; readonly version: number; readonly isDenied: boolean }

/** The gateway configuration among what is watched; a policy goes by its id. */
export const gatewaySubject = 'gateway'

/**
 * What counts of a request: every policy, and the gateway configuration, that was enforced and decided something; one that
 * was asked several times said no where it did so once. What could not be judged counts for nothing: a judge that fails
 * must not be what lifts the policy that it judges for.
 */
export function countedOutcomes(outcomes: readonly CheckOutcome[]): readonly CountedOutcome[] {
  const noted = new Map<string, CountedOutcome>()
  for (const outcome of outcomes) {
    const subject = subjectOf(outcome)
    const { version, isEnforced, decision } = outcome
    if (subject === null || !version || !isEnforced || decision === 'not_evaluated') continue
    const isDenied = isDenial(decision) || noted.get(subject)?.isDenied === true
    noted.set(subject, { subject, version, isDenied })
  }
  return [...noted.values()]
}

/** What no configuration can switch off, and what the caller asked for itself, is nobody's spike. */
function subjectOf({ check, policyId }: CheckOutcome): string | null {
  if (check === 'gateway') return gatewaySubject
  return check === 'policy' ? policyId : null
}
