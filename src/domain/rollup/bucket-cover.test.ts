import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { day, hour, week } from './kinds.ts'
import { coverBucket, type SignedSegment } from './bucket-cover.ts'

const steps = [week, day, hour]
const thisWeek = 300 * week
const now = thisWeek + 4 * day + 9 * hour + 1_234

/** How often the sums of this hour are in the result. */
const countAt = (segments: readonly SignedSegment[], time: number): number =>
  segments.filter(({ from, to }) => from <= time && time < to).reduce((sum, { sign }) => sum + sign, 0)

const countSteps = (segments: readonly SignedSegment[]): number =>
  segments.reduce((sum, { step, from, to }) => sum + (to - from) / step, 0)

describe('the segments of a bucket', () => {
  it('are weeks, with the fewest days and hours at the ends', () => {
    const cover = coverBucket({ from: now - 30 * day, to: now }, { steps, nowSeconds: now })
    assert.deepEqual(cover?.segments, [
      { step: hour, from: thisWeek - 26 * day, to: thisWeek - 26 * day + 9 * hour, sign: -1 },
      { step: day, from: thisWeek - 28 * day, to: thisWeek - 26 * day, sign: -1 },
      { step: week, from: thisWeek - 28 * day, to: thisWeek + week, sign: 1 },
      // Nothing is stored after now.
      { step: day, from: thisWeek + 5 * day, to: thisWeek + week, sign: -1 },
      { step: hour, from: thisWeek + 4 * day + 10 * hour, to: thisWeek + 5 * day, sign: -1 },
    ])
    assert.deepEqual(cover.period, {
      step: hour,
      from: thisWeek - 26 * day + 9 * hour,
      to: thisWeek + 4 * day + 10 * hour,
    })
  })

  it('are added where that is fewer steps', () => {
    const [from, to] = [thisWeek - 8 * day - hour, thisWeek - 6 * day + 2 * hour]
    assert.deepEqual(coverBucket({ from, to }, { steps, nowSeconds: now })?.segments, [
      { step: hour, from, to: from + hour, sign: 1 },
      { step: day, from: thisWeek - 8 * day, to: thisWeek - 6 * day, sign: 1 },
      { step: hour, from: to - 2 * hour, to, sign: 1 },
    ])
  })

  it('are whole days more than 92 days ago, and none more than 1,100 days ago', () => {
    const from = now - 100 * day
    const cover = coverBucket({ from, to: from + 5 * day }, { steps, nowSeconds: now })
    assert.deepEqual(cover?.period, { step: day, from: from - (from % day), to: from - (from % day) + 6 * day })
    assert.ok(cover.segments.every(({ step }) => step !== hour))
    const old = now - 1_101 * day
    assert.equal(coverBucket({ from: old - day, to: old }, { steps, nowSeconds: now }), undefined)
  })

  it('count each hour of the period once, no other hour, and read no step from before the earliest, and no week from before the first', () => {
    const ago = fc.nat({ max: 120 * day })
    const stored = fc.record({ earliestDays: fc.nat({ max: 150 }), weeks: fc.nat({ max: 20 }) })
    fc.assert(
      fc.property(ago, ago, stored, (one, other, { earliestDays, weeks }) => {
        const [from, to] = [now - Math.max(one, other) - 1, now - Math.min(one, other)]
        const earliest = thisWeek - earliestDays * day
        const firstWeek = thisWeek - weeks * week
        const cover = coverBucket({ from, to }, { steps, nowSeconds: now, earliest, firstWeek })
        if (cover === undefined) {
          assert.ok(to <= earliest)
          return
        }
        const { period, segments } = cover
        assert.ok(period.from <= Math.max(from, earliest) && to <= period.to)
        for (let time = period.from - 10 * day; time < period.to + 10 * day; time += hour)
          assert.equal(countAt(segments, time), period.from <= time && time < period.to ? 1 : 0)
        for (const segment of segments) {
          assert.ok(segment.from >= earliest && (segment.step !== week || segment.from >= firstWeek))
          assert.ok(segment.from % segment.step === 0 && segment.to % segment.step === 0 && segment.from < segment.to)
        }
      }),
    )
  })

  it('are at most 6 weeks, 6 days and 24 hours for a month, and fewer until now', () => {
    const stepsOf = (to: number, nowSeconds: number): number[] => {
      const { segments = [] } = coverBucket({ from: to - 30 * day, to }, { steps, nowSeconds }) ?? {}
      return steps.map((step) => countSteps(segments.filter((each) => each.step === step && each.from < nowSeconds)))
    }
    const assertAtMost = (counts: readonly number[], most: readonly number[]): void =>
      assert.ok(
        counts.every((count, at) => count <= (most[at] ?? 0)),
        `${counts.join()} > ${most.join()}`,
      )
    fc.assert(
      fc.property(fc.nat({ max: 60 * day }), (ago) => {
        assertAtMost(stepsOf(now - ago, now), [6, 6, 24])
        assertAtMost(stepsOf(now - ago, now - ago), [6, 4, 12])
      }),
    )
  })
})
