import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundedShare, kappaOf, psiOf } from './agreement.ts'

describe('Cohen’s kappa', () => {
  // Computed by hand: agreement and chance, then (agreement - chance) / (1 - chance).
  for (const [title, confusion, kappa] of [
    ['of 20, 5, 10 and 15 is 0.4', { matches: 20, missed: 5, falseAlarms: 10, passes: 15 }, 0.4],
    ['is 1 for full agreement', { matches: 3, missed: 0, falseAlarms: 0, passes: 7 }, 1],
    ['is 0 for a judge that never matches', { matches: 0, missed: 1, falseAlarms: 0, passes: 99 }, 0],
    ['is -1 for a judge that always says the contrary', { matches: 0, missed: 5, falseAlarms: 5, passes: 0 }, -1],
    ['has no value if both always say the same', { matches: 0, missed: 0, falseAlarms: 0, passes: 9 }, null],
    ['has no value without labels', { matches: 0, missed: 0, falseAlarms: 0, passes: 0 }, null],
  ] as const)
    it(title, () => assert.equal(kappaOf(confusion), kappa))
})

describe('the population stability index', () => {
  it('is 0 for the same shape, however many scores there are', () => assert.equal(psiOf([1, 3], [100, 300]), 0))
  it('of a half that becomes four fifths is 0.4159', () => {
    // (0.8 - 0.5) ln(0.8 / 0.5) + (0.2 - 0.5) ln(0.2 / 0.5) = 0.141001 + 0.274887
    assert.equal(psiOf([5, 5], [8, 2]), 0.4159)
  })
  it('has a value for bins without scores', () => assert.ok(psiOf([10, 0], [0, 10]) > 10))
})

describe('a share', () => {
  it('has exact bounds on both sides', () => {
    const { share_bp: share, at_least_bp: least, at_most_bp: most } = boundedShare(30, 30)
    // The lower bound of 30 of 30 is 0.05 to the power of 1/30.
    assert.deepEqual([share, least, most], [10_000, Math.floor(0.05 ** (1 / 30) * 10_000), 10_000])
  })
  it('of nothing says nothing', () => {
    const { at_least_bp: least, at_most_bp: most } = boundedShare(0, 0)
    assert.deepEqual([least, most], [0, 10_000])
  })
})
