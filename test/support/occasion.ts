import type { Occasion } from '../../src/domain/governance/rules/plan.ts'

/** Somebody who asks for nothing special. */
export const plainOccasion: Occasion = {
  model: 'm',
  project: 'p',
  user: undefined,
  credentialId: 'k',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
}
