import type { EvaluationContext } from '../../src/domain/evaluation/plan.ts'

/** The evaluation context of an ordinary request. */
export const plainContext: EvaluationContext = {
  model: 'm',
  project: 'p',
  user: undefined,
  credentialId: 'k',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
  atMs: 0,
}
