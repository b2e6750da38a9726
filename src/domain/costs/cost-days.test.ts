import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { digestOfCosts, finishedDays } from './cost-days.ts'

const totals = {
  requests: 1,
  inputTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  outputTokens: 5,
  costMicro: 6,
}

describe('the days of cost files', () => {
  it('are the last 35 that ended an hour ago', () => {
    const days = (nowMs: number) => {
      const { from, to } = finishedDays(nowMs)
      return [new Date(from * 1000).toISOString(), new Date(to * 1000).toISOString()]
    }
    const before = ['2026-01-24T00:00:00.000Z', '2026-02-28T00:00:00.000Z']
    assert.deepEqual(days(Date.UTC(2026, 2, 1, 0, 59, 59)), before)
    assert.deepEqual(days(Date.UTC(2026, 2, 1, 1)), ['2026-01-25T00:00:00.000Z', '2026-03-01T00:00:00.000Z'])
  })

  it('have a digest that differs with each sum, and with the price of a credit', () => {
    const digest = digestOfCosts(totals, 0.001)
    assert.equal(digestOfCosts({ ...totals }, 0.001), digest)
    const others = Object.keys(totals).map((name) => digestOfCosts({ ...totals, [name]: 9 }, 0.001))
    assert.equal(new Set([...others, digestOfCosts(totals, 0.002), digest]).size, others.length + 2)
  })
})
