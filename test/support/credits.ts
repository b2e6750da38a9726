import type { Charge } from '../../src/domain/credits/charge.ts'
import type { Organization } from '../../src/domain/identity/principal.ts'

export const organizationOf = (id: string): Organization => ({
  id,
  name: id,
  plan: 'free',
  lifetimePaidMicroUsd: 0,
  metered: true,
  createdAtMs: 1,
})

/** A charge with a consistent receipt: one micro-credit for each token. */
export const chargeOf = (requestId: string, micro: number, sliceId: string | null): Charge => ({
  requestId,
  organizationId: 'org_1',
  projectId: 'proj_1',
  keyId: 'key_1',
  model: 'default-model',
  atMs: 1_760_000_000_000,
  outcome: 'answered',
  sliceId,
  micro,
  usage: { inputTokens: micro, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, source: 'reported' },
  rates: { input: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000, output: 1_000_000, version: 'v1' },
})
