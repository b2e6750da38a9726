import type { EvaluationContext } from '../../src/domain/evaluation/rules/plan.ts'

/** Somebody who asks for nothing special. */
export const plainContext: EvaluationContext = {
  model: 'm',
  project: 'p',
  user: undefined,
  credentialId: 'k',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
}
