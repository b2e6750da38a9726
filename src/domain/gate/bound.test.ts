import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { upperBoundBp } from './bound.ts'

describe('the upper bound of a share', () => {
  it('is the published exact bound', () => {
    // 1 - 0.05 ** (1 / n) where nothing was found.
    assert.equal(upperBoundBp(0, 1_000), 30)
    assert.equal(upperBoundBp(0, 300), 100)
    assert.equal(upperBoundBp(0, 1), 9_500)
    // Clopper and Pearson, one-sided 95 %.
    assert.equal(upperBoundBp(1, 1_000), 48)
    assert.equal(upperBoundBp(5, 100), 1_023)
    assert.equal(upperBoundBp(20, 1_000), 290)
    assert.equal(upperBoundBp(50, 100), 5_864)
  })

  it('is the whole where nothing or everything was found', () => {
    assert.equal(upperBoundBp(0, 0), 10_000)
    assert.equal(upperBoundBp(7, 7), 10_000)
  })

  it('is never below the share, rises with what was found and falls with the size of the sample', () => {
    for (const size of [10, 300, 5_000, 100_000]) {
      let last = 0
      for (const part of [0, 0.001, 0.02, 0.3, 0.9]) {
        const found = Math.floor(size * part)
        const bound = upperBoundBp(found, size)
        assert.ok(bound >= (found / size) * 10_000)
        assert.ok(bound >= last)
        assert.ok(upperBoundBp(found * 10, size * 10) <= bound)
        last = bound
      }
    }
  })
})
