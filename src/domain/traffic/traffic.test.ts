import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { latencyBounds, percentile } from './traffic.ts'

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
