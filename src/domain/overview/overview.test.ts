import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs } from '../../base/clock.ts'
import type { WatchedSink } from '../audit/export/export-sink.ts'
import type { PolicySummary } from '../policy/policy.ts'
import { attentionOf, readSpend, readTrafficNow, type Spend } from './overview.ts'

const nowMs = Date.UTC(2026, 10, 16, 12, 0, 30)
const wellFunded: Spend = { todayUsd: 1, monthUsd: 2, balanceUsd: 100, daysLeft: 50 }

function sink(health: Partial<WatchedSink['health']>): WatchedSink {
  return {
    id: 'exp_1',
    organizationId: 'org_1',
    type: 'webhook',
    label: 'archive',
    enabled: true,
    config: {},
    version: 1,
    createdAtMs: 0,
    updatedAtMs: 0,
    health: {
      state: 'healthy',
      backlogEvents: 0,
      oldestUnsentAtMs: null,
      nextAttemptAtMs: null,
      deadLetters: 0,
      lastSuccessAtMs: null,
      lastErrorAtMs: null,
      lastError: null,
      ...health,
    },
  }
}

const paused = { id: 'pol_1', name: 'No code names', updatedAtMs: 5 } as PolicySummary

describe('what needs attention', () => {
  it('is nothing while everything works', () => {
    assert.deepEqual(attentionOf({ pausedPolicies: [], sinks: [sink({})], spend: wellFunded }), [])
  })

  it('lists what a person must repair before what repairs without one', () => {
    const items = attentionOf({
      pausedPolicies: [paused],
      sinks: [sink({ state: 'retrying', deadLetters: 2 }), sink({ state: 'auth_error', lastError: 'HTTP 403' })],
      spend: { ...wellFunded, daysLeft: 2.6 },
    })
    assert.deepEqual(
      items.map(({ kind, severity, text }) => [kind, severity, text]),
      [
        ['sink_failing', 'error', 'The export archive is failing: HTTP 403'],
        ['sink_failing', 'warning', 'The export archive is failing'],
        ['dead_letters', 'warning', 'The export archive has 2 events that its destination rejected'],
        ['credit_low', 'warning', 'The credit lasts for 2.6 days'],
        ['policy_paused', 'warning', 'The policy No code names is paused'],
      ],
    )
  })

  it('says that there is no credit left', () => {
    const [item] = attentionOf({ pausedPolicies: [], sinks: [], spend: { ...wellFunded, balanceUsd: 0 } })
    assert.deepEqual([item?.kind, item?.severity], ['credit_low', 'error'])
  })
})

describe('what is spent', () => {
  it('is summed up for the day and the month, and divides the balance by the rate of a week', async () => {
    const today = Date.UTC(2026, 10, 16)
    const row = (startMs: number, credits: number) => ({ startMs, micro: credits * 1_000_000 }) as never
    const usage = async () => [row(today - 9 * dayMs, 4), row(today - dayMs, 7), row(today, 8)]
    const balance = { grantedMicro: 119_000_000, availableMicro: 0, heldMicro: 0, spentMicro: 19_000_000 }
    const spend = await readSpend('org_1', { ledger: { usage }, balance, creditUsd: 1, nowMs })
    assert.deepEqual([spend.todayUsd, spend.monthUsd, spend.balanceUsd], [8, 19, 100])
    assert.equal(Math.round(spend.daysLeft ?? 0), 50)
  })

  it('has no balance and no days without metering', async () => {
    const ledger = { usage: async () => [] }
    const spend = await readSpend('org_1', { ledger, balance: undefined, creditUsd: 1, nowMs })
    assert.deepEqual(spend, { todayUsd: 0, monthUsd: 0, balanceUsd: null, daysLeft: null })
  })
})

describe('the traffic of the last minute', () => {
  it('is divided by the seconds since its start', async () => {
    const latency = [0, 90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    const sum = { requests: 90, denied: 9, errors: 3, latency }
    const sums = async () => [sum as never]
    const now = await readTrafficNow({ sums }, 'org_1', nowMs)
    assert.deepEqual(now, { requestsPerSecond: 1, deniedShare: 0.1, errorShare: 3 / 90, p95Ms: 49 })
  })

  it('is zero without requests', async () => {
    const now = await readTrafficNow({ sums: async () => [] }, 'org_1', nowMs)
    assert.deepEqual(now, { requestsPerSecond: 0, deniedShare: 0, errorShare: 0, p95Ms: null })
  })
})
