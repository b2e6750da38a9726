import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LoggedEvent } from '../audit/log.ts'
import type { PolicyException } from '../exceptions/exception.ts'
import { dayMs } from '../../base/clock.ts'
import type { Policy, PolicySummary } from '../policy/policy.ts'
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
    exceptions: { listLive: async () => [] },
  }
}

const exceptionThatEnds = (expiresAtMs: number, policyId = 'pol_1'): PolicyException => ({
  id: 'exc_1',
  organizationId: 'org_1',
  policyId,
  subject: { kind: 'user', id: 'ada' },
  reason: 'Legal agreed',
  owner: 'ada',
  eventId: null,
  requestId: null,
  createdBy: 'adk_1',
  createdAtMs: 0,
  expiresAtMs,
  endedAtMs: null,
  endedBy: null,
})

describe('the facts of attention', () => {
  it('have exceptions that end within three days, and none of deleted policies', async () => {
    const stores = storesWith('adk_1')
    const ends = [exceptionThatEnds(9), exceptionThatEnds(3 * dayMs), exceptionThatEnds(3 * dayMs + 1)]
    const { endingExceptions } = await readAttentionFacts(
      {
        ...stores,
        policies: {
          ...stores.policies,
          find: async (_, id) => (id === 'pol_1' ? ({ id, name: 'P' } as Policy) : undefined),
        },
        exceptions: { listLive: async () => [...ends, exceptionThatEnds(5, 'pol_deleted')] },
      },
      { organizationId: 'org_1', nowMs: 0, hasJudge: true },
    )
    assert.deepEqual(
      endingExceptions.map(({ policy, expiresAtMs }) => [policy.name, expiresAtMs]),
      [
        ['P', 9],
        ['P', 3 * dayMs],
      ],
    )
  })

  it('tell a pause by a person from one by the service', async () => {
    const options = { organizationId: 'org_1', nowMs: 10, hasJudge: true }
    for (const [credentialId, isBySpike] of [['adk_1', false] as const, [undefined, true] as const]) {
      const { pausedPolicies } = await readAttentionFacts(storesWith(credentialId), options)
      assert.deepEqual(pausedPolicies, [{ id: 'pol_1', name: 'P', sinceMs: 5, isBySpike }])
    }
  })
})
