import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { windowsOf } from './windows.ts'

const upTo = (length: number): number[] => Array.from({ length }, (_, at) => at)
const sizes = { windowTokens: 256, strideTokens: 192 }

describe('the windows of a text', () => {
  it('are one if the text fits, with two marks', () => {
    for (const length of [0, 1, 254]) assert.deepEqual(windowsOf(upTo(length), sizes), [upTo(length)])
  })

  it('overlap, and the last one ends with the text', () => {
    const starts = (length: number) => windowsOf(upTo(length), sizes).map(([first]) => first)
    assert.deepEqual(starts(255), [0, 1])
    assert.deepEqual(starts(254 + 192), [0, 192])
    assert.deepEqual(starts(254 + 193), [0, 192, 193])
  })

  it('cover every piece, and none is longer than the model reads', () => {
    fc.assert(
      fc.property(fc.nat(3_000), fc.integer({ min: 1, max: 254 }), (length, strideTokens) => {
        const windows = windowsOf(upTo(length), { windowTokens: 256, strideTokens })
        assert.deepEqual(
          [...new Set(windows.flat())].sort((a, b) => a - b),
          upTo(length),
        )
        assert.ok(windows.every((window) => window.length <= 254))
      }),
    )
  })
})
