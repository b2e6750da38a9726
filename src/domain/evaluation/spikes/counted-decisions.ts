import { isDenial } from '../../audit/event/verdict.ts'
import type { Decision } from '../verdict/combine.ts'

/** The decision of one policy or configuration version on one request. */
export type CountedDecision = { readonly subject: string; readonly version: number; readonly isDenied: boolean }

/** The subject name of the gateway configuration. The subject of a policy is its id. */
export const gatewaySubject = 'gateway'

/**
 * The decisions of a request that the spike monitor counts: one per enforced policy and one of the gateway configuration. A
 * subject with several decisions counts as denied if one of them is a denial. Decisions that could not be evaluated do not
 * count, because a failing judge must not disable the policy that it judges for.
 */
export function countedDecisions(decisions: readonly Decision[]): readonly CountedDecision[] {
  const counted = new Map<string, CountedDecision>()
  for (const one of decisions) {
    const subject = subjectOf(one)
    const { version, isEnforced, decision } = one
    if (subject === null || !version || !isEnforced || decision === 'not_evaluated') continue
    const isDenied = isDenial(decision) || counted.get(subject)?.isDenied === true
    counted.set(subject, { subject, version, isDenied })
  }
  return [...counted.values()]
}

/** Null for always blocked and requested categories: no policy or configuration is responsible for them. */
function subjectOf({ check, policyId }: Decision): string | null {
  if (check === 'gateway') return gatewaySubject
  return check === 'policy' ? policyId : null
}
