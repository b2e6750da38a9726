import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { evidenceOf, isSpike } from './spike.ts'

const cases = [
  { says: 'nineteen requests are too few to tell', window: [19, 19], dayBefore: [0, 0], wants: false },
  { says: 'twenty are enough', window: [20, 6], dayBefore: [0, 0], wants: true },
  { says: 'a quarter is not more than a quarter', window: [20, 5], dayBefore: [0, 0], wants: false },
  { says: 'one more than a quarter is', window: [400, 101], dayBefore: [0, 0], wants: true },
  { says: 'all of them is a spike after a quiet day', window: [20, 20], dayBefore: [1000, 0], wants: true },
  { says: 'exactly twice the day before is a spike', window: [100, 30], dayBefore: [1000, 150], wants: true },
  { says: 'a little less than twice is not', window: [100, 30], dayBefore: [1000, 151], wants: false },
  { says: 'the same share as the day before is not', window: [100, 60], dayBefore: [1000, 600], wants: false },
  { says: 'over half the day before can never double', window: [50, 50], dayBefore: [1000, 501], wants: false },
  { says: 'one request the day before is a share too', window: [20, 20], dayBefore: [1, 1], wants: false },
  { says: 'nothing at all is no spike', window: [0, 0], dayBefore: [0, 0], wants: false },
] as const

const tally = ([requests, denials]: readonly [number, number]) => ({ requests, denials })

describe('a spike of denials', () => {
  for (const { says, window, dayBefore, wants } of cases) {
    it(says, () => assert.equal(isSpike({ window: tally(window), dayBefore: tally(dayBefore) }), wants))
  }

  it('is told with its numbers', () => {
    assert.deepEqual(evidenceOf({ window: tally([30, 10]), dayBefore: tally([0, 0]) }), {
      window_minutes: 15,
      requests: 30,
      denials: 10,
      denied_percent: 33.33,
      day_before: { requests: 0, denials: 0, denied_percent: 0 },
    })
  })
})
