import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Clock } from '../../base/clock.ts'
import { createAdministrationLimits, type AdministrationLimit } from './administration-limits.ts'

const limits: AdministrationLimit = {
  credential: { requestsPerMinute: 3, concurrentRequests: 2 },
  organization: { requestsPerMinute: 5, concurrentRequests: 3 },
}

function scene() {
  let nowMs = 0
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} }
  const { admit } = createAdministrationLimits(clock, limits)
  return {
    advance: (ms: number) => void (nowMs += ms),
    /** Begins a request; answers how to end it, or why it may not begin. */
    begin(credential: string, organization = 'org') {
      const admission = admit({ credential, organization })
      return 'admitted' in admission ? admission.admitted : admission.rejected
    },
    /** A request that is over at once. */
    ask(credential: string, organization = 'org') {
      const admission = admit({ credential, organization })
      if ('rejected' in admission) return admission.rejected
      admission.admitted[Symbol.dispose]()
      return undefined
    },
  }
}

describe('the limits of administration', () => {
  it('let a credential begin so many requests a minute, and say how long to wait', () => {
    const { ask, advance } = scene()
    assert.equal(ask('a'), undefined)
    advance(10_000)
    assert.equal(ask('a'), undefined)
    assert.equal(ask('a'), undefined)
    const refused = { scope: 'credential', metric: 'requests', limit: 3, waitMs: 50_000 }
    assert.deepEqual(ask('a'), refused)
    advance(49_999)
    assert.equal(ask('a')?.waitMs, 1)
    advance(1)
    assert.equal(ask('a'), undefined)
    assert.equal(ask('a')?.waitMs, 10_000)
  })

  it('count an organization over all its credentials', () => {
    const { ask } = scene()
    for (const credential of ['a', 'a', 'a', 'b', 'b']) assert.equal(ask(credential), undefined)
    assert.deepEqual(ask('b'), { scope: 'organization', metric: 'requests', limit: 5, waitMs: 60_000 })
    assert.equal(ask('c', 'other'), undefined)
  })

  it('bound the requests under way, and give a place back when one ends', () => {
    const { begin } = scene()
    const first = begin('a')
    begin('a')
    assert.deepEqual(begin('a'), {
      scope: 'credential',
      metric: 'concurrent_requests',
      limit: 2,
      waitMs: 1_000,
    })
    if (Symbol.dispose in first) first[Symbol.dispose]()
    assert.ok(Symbol.dispose in begin('a'))
  })

  it('count a rejected request nowhere', () => {
    const { ask } = scene()
    for (let count = 0; count < 10; count++) ask('a')
    assert.equal(ask('b'), undefined) // the organization has seen three
    assert.equal(ask('b'), undefined)
    assert.equal(ask('b')?.scope, 'organization')
  })

  it('never let more begin in any minute than allowed, and never reject without need', () => {
    const step = fc.record({ credential: fc.constantFrom('a', 'b', 'c'), afterMs: fc.integer({ min: 0, max: 30_000 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { ask, advance } = scene()
        const begun: { credential: string; atMs: number }[] = []
        let nowMs = 0
        for (const { credential, afterMs } of steps) {
          advance(afterMs)
          nowMs += afterMs
          const recent = begun.filter(({ atMs }) => atMs > nowMs - 60_000)
          const isFree = recent.length < 5 && recent.filter((each) => each.credential === credential).length < 3
          const refused = ask(credential)
          assert.equal(refused === undefined, isFree)
          if (refused === undefined) begun.push({ credential, atMs: nowMs })
          else assert.ok(refused.waitMs > 0 && refused.waitMs <= 60_000)
        }
      }),
    )
  })
})
