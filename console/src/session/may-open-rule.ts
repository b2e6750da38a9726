import type { RuleLink } from '../kit/request-summary.ts'
import { useMay } from './session.tsx'

/** Whether the person may open the page of a rule. */
export function useMayOpenRule(): (rule: RuleLink) => boolean {
  const mayReadPolicies = useMay('policies:read')
  const mayReadGateway = useMay('gateway:read')
  return ({ kind }) => (kind === 'policy' ? mayReadPolicies : mayReadGateway)
}
