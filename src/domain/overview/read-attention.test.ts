import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LoggedEvent } from '../audit/log.ts'
import type { PolicySummary } from '../policy/policy.ts'
import { readAttentionFacts, type AttentionStores } from './read-attention.ts'

const none = async () => ({ items: [], hasMore: false })

/** One paused policy, whose last pause was made with this credential. */
function storesWith(credentialId: string | undefined): AttentionStores {
  const policy = { id: 'pol_1', organizationId: 'org_1', name: 'P', updatedAtMs: 9 } as PolicySummary
  const session = credentialId === undefined ? undefined : { credential_uid: credentialId }
  const event = { document: { time: 5, actor: { session } } } as unknown as LoggedEvent
  return {
    policies: {
      list: async () => ({ items: [policy], hasMore: false }),
      listInForce: async () => [],
      find: async () => undefined,
    },
    spikes: { recent: async () => [] },
    events: { list: async () => ({ items: [event], hasMore: false }) },
    gateway: { find: async () => undefined },
    exports: { list: none },
    directory: { listProjectKeys: none, listAdminKeys: none },
    appeals: { closedSince: async () => [], countOpen: async () => 0 },
    judges: { inForce: async () => ({ active: undefined, shadow: undefined }) },
    judgeAlarms: { open: async () => [] },
  }
}

describe('the facts of attention', () => {
  it('tell a pause by a person from one by the service', async () => {
    const options = { organizationId: 'org_1', nowMs: 10, hasJudge: true }
    for (const [credentialId, isBySpike] of [['adk_1', false] as const, [undefined, true] as const]) {
      const { pausedPolicies } = await readAttentionFacts(storesWith(credentialId), options)
      assert.deepEqual(pausedPolicies, [{ id: 'pol_1', name: 'P', sinceMs: 5, isBySpike }])
    }
  })
})
