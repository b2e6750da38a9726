import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs } from '../../base/clock.ts'
import { readSpend, readTrafficNow } from './overview.ts'

const nowMs = Date.UTC(2026, 10, 16, 12, 0, 30)
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
