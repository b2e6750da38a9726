import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { evidenceOf, isSpike, type Sums } from './spike.ts'

type Pair = readonly [all: number, denied: number]
type Counts = { window?: Pair; callers?: Pair; keys?: Pair; dayBefore?: Pair }

/** A spike, unless some of its counts are replaced. */
const sumsOf = ({ window = [20, 6], callers = [10, 5], keys = [3, 1], dayBefore = [0, 0] }: Counts): Sums => ({
  window: { requests: window[0], denials: window[1] },
  callers: { active: callers[0], denied: callers[1] },
  keys: { active: keys[0], denied: keys[1] },
  dayBefore: { requests: dayBefore[0], denials: dayBefore[1] },
})

const cases: { title: string; counts: Counts; expected: boolean }[] = [
  { title: 'nineteen requests are too few', counts: { window: [19, 19] }, expected: false },
  { title: 'twenty requests are enough', counts: { window: [20, 5] }, expected: true },
  { title: 'four denied callers are too few', counts: { callers: [4, 4] }, expected: false },
  { title: 'five denied callers are enough', counts: { callers: [5, 5] }, expected: true },
  { title: 'a quarter of the callers is not enough', counts: { callers: [20, 5] }, expected: false },
  { title: 'more than a quarter of the callers is', counts: { callers: [19, 5] }, expected: true },
  { title: 'one key of four is not enough, whatever users it names', counts: { keys: [4, 1] }, expected: false },
  { title: 'two keys of four are', counts: { keys: [4, 2] }, expected: true },
  {
    title: 'the requests of one caller alone are no spike',
    counts: { window: [900, 900], callers: [1, 1], keys: [1, 1] },
    expected: false,
  },
  { title: 'it is one after a quiet day', counts: { dayBefore: [1000, 0] }, expected: true },
  {
    title: 'exactly twice the day before is a spike',
    counts: { window: [100, 30], dayBefore: [1000, 150] },
    expected: true,
  },
  { title: 'a little less than twice is not', counts: { window: [100, 30], dayBefore: [1000, 151] }, expected: false },
  {
    title: 'over half the day before can never double',
    counts: { window: [50, 50], dayBefore: [1000, 501] },
    expected: false,
  },
  {
    title: 'one request the day before is a share too',
    counts: { window: [20, 20], dayBefore: [1, 1] },
    expected: false,
  },
  { title: 'nothing at all is no spike', counts: { window: [0, 0], callers: [0, 0], keys: [0, 0] }, expected: false },
]

describe('a spike of denials', () => {
  for (const { title, counts, expected } of cases) it(title, () => assert.equal(isSpike(sumsOf(counts)), expected))

  it('has its numbers as evidence', () => {
    assert.deepEqual(evidenceOf(sumsOf({ window: [30, 10] })), {
      window_minutes: 15,
      requests: 30,
      denials: 10,
      denied_percent: 33.33,
      callers: 10,
      denied_callers: 5,
      keys: 3,
      denied_keys: 1,
      day_before: { requests: 0, denials: 0, denied_percent: 0 },
    })
  })
})
