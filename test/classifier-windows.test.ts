import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { gather, windowsOf } from './support/reference-scorer/windows.ts'

describe('windows', () => {
  it('cover every bucket, are of one length, and end with the text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1, 2, 4), (buckets, length) => {
        const windows = windowsOf(buckets, length)
        const covered = new Set(
          windows.flatMap(([first, end]) => Array.from({ length: end - first }, (_, at) => first + at)),
        )
        assert.equal(covered.size, buckets)
        assert.equal(windows.at(-1)?.[1], buckets)
        for (const [first, end] of windows) assert.equal(end - first, Math.min(buckets, length))
      }),
    )
  })

  it('of an empty text do not exist', () => assert.deepEqual(windowsOf(0, 2), []))

  it('together score between their mean and their highest, and at most one under it', () => {
    assert.equal(gather([3]), 3)
    assert.equal(gather([2, 2, 2]), 2)
    assert.equal(gather([5, ...Array.from({ length: 50 }, () => -9)]), 4)
    assert.ok(gather([2, 1]) < 2 && gather([2, 1]) > 1.5)
  })
})
