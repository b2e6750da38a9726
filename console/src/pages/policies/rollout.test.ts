import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DecisionHour } from './queries.ts'
import { barsOf, ratesSince, shareOf } from './rollout.ts'

const hour = (start: number, recorded: readonly [number, number], enforced: readonly [number, number]): DecisionHour =>
  ({
    start_time: start * 3_600,
    recorded: { requests: recorded[0], denied: recorded[1] },
    enforced: { requests: enforced[0], denied: enforced[1] },
  }) as DecisionHour
const hours = [hour(10, [5, 1], [0, 0]), hour(11, [2, 1], [7, 3]), hour(11, [0, 0], [1, 1])]

describe('the rates of a version', () => {
  it('are apart for monitoring and enforcing', () =>
    assert.deepEqual(ratesSince(hours, 0), {
      monitoring: { requests: 7, matches: 2 },
      enforcing: { requests: 8, matches: 4 },
    }))
  it('count an hour that has not ended at the time, and not one that has', () => {
    assert.equal(ratesSince(hours, 11 * 3_600 - 1).monitoring.requests, 7)
    assert.equal(ratesSince(hours, 11 * 3_600).monitoring.requests, 2)
  })
  it('have no share without requests', () => {
    assert.equal(shareOf({ requests: 0, matches: 0 }), undefined)
    assert.equal(shareOf({ requests: 8, matches: 2 }), 0.25)
  })
})

it('there is a bar for each hour up to now, also for those without requests', () =>
  assert.deepEqual(barsOf(hours, 3, 12.5 * 3_600_000), [
    { startMs: 10 * 3_600_000, values: { denied: 0, monitored: 1 } },
    { startMs: 11 * 3_600_000, values: { denied: 4, monitored: 1 } },
    { startMs: 12 * 3_600_000, values: { denied: 0, monitored: 0 } },
  ]))
