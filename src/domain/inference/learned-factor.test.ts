import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLearnedFactors } from './learned-factor.ts'

describe('learned token counts', () => {
  it('keep a bounded number of model names', () => {
    const factors = createLearnedFactors()
    factors.corrected('first', 1)
    for (let at = 0; at < 10_000; at++) factors.corrected(`claude-${at}`, 1)
    assert.equal(factors.wantsSample('first', 0), false)
    assert.equal(factors.wantsSample('claude-9999', 0), true)
  })

  it('need several samples, and take their median', () => {
    const factors = createLearnedFactors()
    factors.learn('m', 1000, 3900)
    factors.learn('m', 1000, 1200)
    assert.equal(factors.corrected('m', 1000), 1000)
    factors.learn('m', 1000, 1210)
    assert.equal(factors.corrected('m', 1000), 1210)
  })

  it('keep their factor after one odd sample, and follow a lasting change', () => {
    const factors = createLearnedFactors()
    for (let at = 0; at < 9; at++) factors.learn('m', 1000, 1200)
    factors.learn('m', 1000, 4_000_000)
    assert.equal(factors.corrected('m', 1000), 1200)
    for (let at = 0; at < 9; at++) factors.learn('m', 1000, 1500)
    assert.equal(factors.corrected('m', 1000), 1500)
  })

  it('learn the constant part of a template from short requests', () => {
    const factors = createLearnedFactors()
    for (const counted of [10, 12, 14]) factors.learn('m', counted, counted + 30)
    assert.equal(factors.corrected('m', 11), 41)
    assert.equal(factors.corrected('m', 1000), 1030)
  })

  it('tell the constant from the factor if requests have different lengths', () => {
    const factors = createLearnedFactors()
    for (const counted of [10, 200, 1_000, 4_000]) factors.learn('m', counted, counted * 1.5 + 40)
    assert.deepEqual([factors.corrected('m', 20), factors.corrected('m', 2_000)], [70, 3_040])
    factors.learn('m', 500, 900_000)
    assert.ok(Math.abs(factors.corrected('m', 2_000) - 3_040) < 300, 'one odd sample changes little')
  })

  it('are never below one token, nor far from the count, whatever an upstream reports', () => {
    const factors = createLearnedFactors()
    for (const counted of [10, 500, 2_000]) factors.learn('low', counted, 1)
    assert.equal(factors.corrected('low', 10), 1)
    for (const counted of [10, 500, 2_000]) factors.learn('high', counted, counted * 1e9)
    assert.equal(factors.corrected('high', 1_000), 8_000 + 4_000)
  })

  it('are compared at once until there are enough samples, then twice a minute', () => {
    const factors = createLearnedFactors()
    factors.corrected('m', 1)
    for (let at = 0; at < 3; at++) {
      assert.equal(factors.wantsSample('m', at), true)
      factors.learn('m', 10, 20)
    }
    assert.deepEqual([factors.wantsSample('m', 29_000), factors.wantsSample('m', 30_002)], [false, true])
  })
})
