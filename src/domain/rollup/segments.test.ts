import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { day, hour, minute } from './kinds.ts'
import { segmentsOf } from './segments.ts'

const steps = [day, hour, minute]
const now = 400 * day + 5 * hour
const today = 400 * day

describe('the segments of a period', () => {
  it('are whole days with hours and minutes at the ends', () => {
    const from = today - 2 * day - hour - minute - 10
    assert.deepEqual(segmentsOf({ from, to: today + 90, bucket: day }, steps, now - 2 * day), [
      { step: minute, from: today - 2 * day - hour - 2 * minute, to: today - 2 * day - hour },
      { step: hour, from: today - 2 * day - hour, to: today - 2 * day },
      { step: day, from: today - 2 * day, to: today },
      { step: minute, from: today, to: today + 2 * minute },
    ])
  })

  it('are no longer than the bucket of the report', () => {
    assert.deepEqual(segmentsOf({ from: today, to: today + day, bucket: hour }, steps, now), [
      { step: hour, from: today, to: today + day },
    ])
    assert.deepEqual(segmentsOf({ from: today, to: today + day, bucket: minute }, steps, now), [
      { step: minute, from: today, to: today + day },
    ])
  })

  it('are longer where shorter steps are removed', () => {
    assert.deepEqual(
      segmentsOf({ from: today - 3 * day + 1, to: today - 2 * day + 6 * hour, bucket: minute }, steps, now),
      [
        { step: hour, from: today - 3 * day, to: today - 2 * day + 5 * hour },
        { step: minute, from: today - 2 * day + 5 * hour, to: today - 2 * day + 6 * hour },
      ],
    )
    assert.deepEqual(segmentsOf({ from: 5 * hour, to: 6 * hour, bucket: hour }, steps, now), [
      { step: day, from: 0, to: day },
    ])
  })

  it('follow each other without a gap, in whole steps, and contain the period', () => {
    const time = fc.integer({ min: now - 200 * day, max: now })
    fc.assert(
      fc.property(time, fc.integer({ min: 1, max: 100 * day }), fc.constantFrom(...steps), (from, length, bucket) => {
        const segments = segmentsOf({ from, to: from + length, bucket }, steps, now)
        segments.forEach((segment, at) => {
          assert.ok(segment.from < segment.to)
          assert.ok(segment.from % segment.step === 0 && segment.to % segment.step === 0)
          assert.equal(segment.from, segments[at - 1]?.to ?? segment.from)
        })
        assert.ok((segments[0]?.from ?? Infinity) <= from)
        assert.ok((segments.at(-1)?.to ?? 0) >= from + length)
      }),
    )
  })
})
