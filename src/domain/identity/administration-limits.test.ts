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
    /** Starts a request. Returns a disposable that ends it, or the reason of its rejection. */
    start(credential: string, organization = 'org') {
      const admission = admit({ credential, organization })
      return 'admitted' in admission ? admission.admitted : admission.rejected
    },
    /** Sends a request that ends at once. Returns the reason if it is rejected. */
    send(credential: string, organization = 'org') {
      const admission = admit({ credential, organization })
      if ('rejected' in admission) return admission.rejected
      admission.admitted[Symbol.dispose]()
      return undefined
    },
  }
}

describe('the limits of administration', () => {
  it('count the sessions of the console apart from their key, and both for the organization', () => {
    const clock: Clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} }
    const sessions = { requestsPerMinute: 2, concurrentRequests: 2 }
    const { admit } = createAdministrationLimits(clock, { ...limits, console: sessions })
    const send = (isConsole: boolean) => {
      const admission = admit({ credential: 'a', organization: 'org', isConsole })
      if ('rejected' in admission) return admission.rejected
      admission.admitted[Symbol.dispose]()
      return undefined
    }
    for (const isConsole of [true, true, false, false]) assert.equal(send(isConsole), undefined)
    assert.deepEqual(send(true), { scope: 'credential', metric: 'requests', limit: 2, waitMs: 60_000 })
    assert.equal(send(false), undefined)
    assert.deepEqual(send(false), { scope: 'credential', metric: 'requests', limit: 3, waitMs: 60_000 })
    const other = admit({ credential: 'b', organization: 'org', isConsole: true })
    assert.deepEqual('rejected' in other && other.rejected.scope, 'organization')
  })

  it('limit the requests of a credential per minute, and report the wait', () => {
    const { send, advance } = scene()
    assert.equal(send('a'), undefined)
    advance(10_000)
    assert.equal(send('a'), undefined)
    assert.equal(send('a'), undefined)
    const rejected = { scope: 'credential', metric: 'requests', limit: 3, waitMs: 50_000 }
    assert.deepEqual(send('a'), rejected)
    advance(49_999)
    assert.equal(send('a')?.waitMs, 1)
    advance(1)
    assert.equal(send('a'), undefined)
    assert.equal(send('a')?.waitMs, 10_000)
  })

  it('count an organization over all its credentials', () => {
    const { send } = scene()
    for (const credential of ['a', 'a', 'a', 'b', 'b']) assert.equal(send(credential), undefined)
    assert.deepEqual(send('b'), { scope: 'organization', metric: 'requests', limit: 5, waitMs: 60_000 })
    assert.equal(send('c', 'other'), undefined)
  })

  it('limit concurrent requests, and free a slot when one ends', () => {
    const { start } = scene()
    const first = start('a')
    start('a')
    assert.deepEqual(start('a'), {
      scope: 'credential',
      metric: 'concurrent_requests',
      limit: 2,
      waitMs: 1_000,
    })
    if (Symbol.dispose in first) first[Symbol.dispose]()
    assert.ok(Symbol.dispose in start('a'))
  })

  it('do not count a rejected request in any scope', () => {
    const { send } = scene()
    for (let count = 0; count < 10; count++) send('a')
    assert.equal(send('b'), undefined) // of the organization’s limit of 5, three are used
    assert.equal(send('b'), undefined)
    assert.equal(send('b')?.scope, 'organization')
  })

  it('never admit more than the limit in any minute, and never reject a request below it', () => {
    const step = fc.record({ credential: fc.constantFrom('a', 'b', 'c'), afterMs: fc.integer({ min: 0, max: 30_000 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { send, advance } = scene()
        const started: { credential: string; atMs: number }[] = []
        let nowMs = 0
        for (const { credential, afterMs } of steps) {
          advance(afterMs)
          nowMs += afterMs
          const recent = started.filter(({ atMs }) => atMs > nowMs - 60_000)
          const isFree = recent.length < 5 && recent.filter((each) => each.credential === credential).length < 3
          const rejected = send(credential)
          assert.equal(rejected === undefined, isFree)
          if (rejected === undefined) started.push({ credential, atMs: nowMs })
          else assert.ok(rejected.waitMs > 0 && rejected.waitMs <= 60_000)
        }
      }),
    )
  })
})
