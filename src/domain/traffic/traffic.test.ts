import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isFault } from '../../base/fault.ts'
import {
  latencyBounds,
  percentile,
  percentileRange,
  readTraffic,
  type TrafficQuery,
  type TrafficSum,
} from './traffic.ts'

const bucketsOf = (latencies: readonly number[]): number[] => {
  const buckets = Array<number>(latencyBounds.length + 1).fill(0)
  for (const ms of latencies) {
    const at = latencyBounds.findIndex((bound) => ms < bound)
    const bucket = at < 0 ? latencyBounds.length : at
    buckets[bucket] = (buckets[bucket] ?? 0) + 1
  }
  return buckets
}

describe('the percentile of a latency', () => {
  it('is null without requests', () => assert.equal(percentile(bucketsOf([]), 0.5), null))

  it('is within the range that holds the exact percentile', () => {
    const latencies = fc.array(fc.integer({ min: 0, max: 59_999 }), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(latencies, fc.constantFrom(0.5, 0.95, 0.99), (given, share) => {
        const sorted = given.toSorted((a, b) => a - b)
        const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
        const above = latencyBounds.find((bound) => exact < bound) ?? Infinity
        const below = latencyBounds[latencyBounds.indexOf(above as never) - 1] ?? 0
        const estimated = percentile(bucketsOf(given), share) ?? -1
        assert.ok(estimated >= below && estimated <= above, `${estimated} is not in ${below} to ${above}`)
      }),
    )
  })

  it('is the last bound for requests that took longer', () =>
    assert.equal(percentile(bucketsOf([90_000]), 0.5), 60_000))
})

describe('reading traffic', () => {
  const sum: TrafficSum = {
    startTime: 0,
    group: 'key',
    requests: 1,
    denied: 0,
    errors: 0,
    inputTokens: 0,
    outputTokens: 0,
    costMicroUsd: 0,
    latency: [],
  }
  const query: TrafficQuery = { organizationId: 'org_1', from: 0, to: 86_400, step: 60, groupBy: 'key' }
  /** A store with this many sums. */
  const storeOf = (count: number) => ({
    sums: async ({ limit = Infinity }: TrafficQuery) => Array.from({ length: Math.min(count, limit) }, () => sum),
  })

  it('returns as many sums as a response can hold, and rejects a step with more of them', async () => {
    assert.equal((await readTraffic(storeOf(20_000), query)).length, 20_000)
    await assert.rejects(readTraffic(storeOf(10_000_000), query), (error) => {
      return isFault(error) && error.kind === 'validation' && error.details.param === 'step'
    })
  })
})

describe('the range of a percentile', () => {
  it('is a bucket without an estimate for few requests, whose place in it is not known', () => {
    assert.deepEqual(percentileRange([0, 0, 0, 1], 0.95), { fromMs: 100, toMs: 250, estimateMs: null })
    assert.deepEqual(percentileRange([5], 0.95), { fromMs: 0, toMs: 25, estimateMs: null })
  })

  it('has an estimate for many requests', () => {
    const latency = [0, 0, 0, 100]
    assert.deepEqual(percentileRange(latency, 0.95), { fromMs: 100, toMs: 250, estimateMs: percentile(latency, 0.95) })
  })

  it('has no upper end above the highest bound, and is null without requests', () => {
    const latency = [...Array<number>(11).fill(0), 500]
    assert.deepEqual(percentileRange(latency, 0.95), { fromMs: 60_000, toMs: null, estimateMs: null })
    assert.equal(percentileRange([], 0.95), null)
  })
})
