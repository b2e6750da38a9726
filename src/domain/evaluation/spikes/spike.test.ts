import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { evidenceOf, isSpike } from './spike.ts'

const cases = [
  { title: 'nineteen requests are too few', window: [19, 19], dayBefore: [0, 0], expected: false },
  { title: 'twenty are enough', window: [20, 6], dayBefore: [0, 0], expected: true },
  { title: 'a quarter is not more than a quarter', window: [20, 5], dayBefore: [0, 0], expected: false },
  { title: 'one more than a quarter is', window: [400, 101], dayBefore: [0, 0], expected: true },
  { title: 'all of them is a spike after a quiet day', window: [20, 20], dayBefore: [1000, 0], expected: true },
  { title: 'exactly twice the day before is a spike', window: [100, 30], dayBefore: [1000, 150], expected: true },
  { title: 'a little less than twice is not', window: [100, 30], dayBefore: [1000, 151], expected: false },
  { title: 'the same share as the day before is not', window: [100, 60], dayBefore: [1000, 600], expected: false },
  { title: 'over half the day before can never double', window: [50, 50], dayBefore: [1000, 501], expected: false },
  { title: 'one request the day before is a share too', window: [20, 20], dayBefore: [1, 1], expected: false },
  { title: 'nothing at all is no spike', window: [0, 0], dayBefore: [0, 0], expected: false },
] as const

const countOf = ([requests, denials]: readonly [number, number]) => ({ requests, denials })

describe('a spike of denials', () => {
  for (const { title, window, dayBefore, expected } of cases) {
    it(title, () => assert.equal(isSpike({ window: countOf(window), dayBefore: countOf(dayBefore) }), expected))
  }

  it('has its numbers as evidence', () => {
    assert.deepEqual(evidenceOf({ window: countOf([30, 10]), dayBefore: countOf([0, 0]) }), {
      window_minutes: 15,
      requests: 30,
      denials: 10,
      denied_percent: 33.33,
      day_before: { requests: 0, denials: 0, denied_percent: 0 },
    })
  })
})
