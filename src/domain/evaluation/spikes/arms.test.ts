import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { upperBoundBp } from '../../gate/bound.ts'
import { boundedArm, deniesMore, type RolloutArm } from './arms.ts'

const arm = (side: RolloutArm['side'], matchedCallers: number, callers: number) =>
  boundedArm({ side, callers, matchedCallers, requests: callers, matches: matchedCallers }, upperBoundBp)

describe('the sides of a rollout', () => {
  it('have the share of their callers between exact bounds', () => {
    assert.deepEqual([arm('observed', 0, 300).lowBp, arm('observed', 0, 300).highBp], [0, 100])
    assert.deepEqual([arm('observed', 300, 300).lowBp, arm('observed', 300, 300).highBp], [9_900, 10_000])
    assert.deepEqual([arm('observed', 0, 0).lowBp, arm('observed', 0, 0).highBp], [0, 10_000])
  })

  it('differ only if it is more than chance', () => {
    assert.equal(deniesMore([arm('enforced', 9, 10), arm('observed', 10, 100)]), true)
    assert.equal(deniesMore([arm('enforced', 3, 10), arm('observed', 20, 100)]), false)
    assert.equal(deniesMore([arm('enforced', 1, 100), arm('observed', 50, 100)]), false)
    assert.equal(deniesMore([arm('enforced', 10, 10), arm('observed', 0, 0)]), false)
  })
})
