import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closestOf, toneOfShare, type ScopeLimits } from './closest.ts'

const limits = (changed: Partial<ScopeLimits>): ScopeLimits => ({
  rpm: null,
  rpd: null,
  tpm: null,
  tpd: null,
  concurrent: null,
  ...changed,
})

describe('the closest limit', () => {
  it('is the one of which the largest share is used', () => {
    const closest = closestOf(limits({ rpm: { limit: 100, remaining: 40 }, tpd: { limit: 10, remaining: 1 } } as never))
    assert.deepEqual([closest?.metric, closest?.share], ['tpd', 0.9])
  })
  it('is none without limits', () => assert.equal(closestOf(limits({})), undefined))
  it('of zero is not used at all', () =>
    assert.equal(closestOf(limits({ rpm: { limit: 0, remaining: 0 } } as never))?.share, 0))
})

it('a share warns from 80 %, and denies when it is used up', () =>
  assert.deepEqual([0.79, 0.8, 0.999, 1, 1.2].map(toneOfShare), [undefined, 'warning', 'warning', 'deny', 'deny']))
