import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { curveOf, isFlat, onCurve, type BacktestResult } from './threshold-curve.ts'

type Scores = BacktestResult['scores']
const scores = [
  { from_basis_points: 0, allowed: 10, blocked_by_policy: 1, other: 0 },
  { from_basis_points: 5_000, allowed: 3, blocked_by_policy: 2, other: 1 },
  { from_basis_points: 9_900, allowed: 0, blocked_by_policy: 4, other: 0 },
] as Scores

describe('the curve of thresholds', () => {
  const curve = curveOf({ scores })
  const at = (threshold: number) => curve.find((effect) => effect.threshold === threshold)
  it('has every threshold from 100 to 9,900', () =>
    assert.deepEqual([curve.length, curve[0]?.threshold, curve.at(-1)?.threshold], [99, 100, 9_900]))
  it('denies from the threshold on, and says what changes', () => {
    assert.deepEqual(at(5_000), { threshold: 5_000, denied: 10, newlyDenied: 3, newlyAllowed: 1 })
    assert.deepEqual(at(5_100), { threshold: 5_100, denied: 4, newlyDenied: 0, newlyAllowed: 3 })
  })
  it('never denies more at a higher threshold', () =>
    assert.ok(curve.every(({ denied }, index) => denied <= (curve[index - 1]?.denied ?? Infinity))))
  it('is flat for a rule that only says yes or no', () => {
    assert.equal(isFlat(curve), false)
    assert.equal(isFlat(curveOf({ scores: scores.filter(({ from_basis_points: from }) => from !== 5_000) })), true)
  })
})

it('a threshold moves to the nearest one of the curve', () =>
  assert.deepEqual([1, 149, 150, 9_999].map(onCurve), [100, 100, 200, 9_900]))
