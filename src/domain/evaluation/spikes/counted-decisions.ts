import type { Decision } from '../verdict/combine.ts'

/** The subject name of the gateway configuration. The subject of a policy is its id. */
export const gatewaySubject = 'gateway'

/**
 * The subject under which a decision is counted: a policy, or the gateway configuration. Undefined
 * for decisions that do not count. Those that could not be evaluated do not count, because a failing judge must not disable
 * the policy that it judges for. Always blocked and requested categories do not count, because no policy or configuration is
 * responsible for them.
 */
export function countedSubject({ check, policyId, version, decision }: Decision): string | undefined {
  if (!version || decision === 'not_evaluated') return undefined
  if (check === 'gateway') return gatewaySubject
  return check === 'policy' ? (policyId ?? undefined) : undefined
}
