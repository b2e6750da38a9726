import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { limitSettings } from '../../../../test/support/limit-settings.ts'
import { createLimitEngine, type LimitEngine } from './engine.ts'
import { unlimited } from '../scopes.ts'

describe('the state of the engine', () => {
  const limits = { key: { ...unlimited, rpm: 2, concurrent: 1 }, project: unlimited, organization: unlimited }
  const subject = (number: number) => ({ organization: `org_${number}`, project: 'project', key: 'key' })
  const count = (engine: LimitEngine, number: number) => engine.admit({ ...subject(number), limits, mode: 'count' })
  const start = (engine: LimitEngine, number: number, micro: number) =>
    engine.admit({ ...subject(number), limits, mode: 'full', requestId: `costs_${micro}`, tokens: 0, micro })

  /** An engine that is bounded to ten organizations. */
  function createBoundedEngine() {
    const time = { nowMs: 1_760_000_000_000 }
    const engine = createLimitEngine({
      nowMs: () => time.nowMs,
      epoch: 'life',
      settings: limitSettings,
      maxScopes: 30,
    })
    const countRequests = (organizations: number, everyMs: number): void => {
      for (let number = 1; number <= organizations; number++) {
        time.nowMs += everyMs
        count(engine, number)
      }
    }
    return { time, engine, countRequests }
  }

  it('is bounded: the least recently used scopes are evicted first', () => {
    const { engine, countRequests } = createBoundedEngine()
    countRequests(1_000, 500)
    assert.ok(engine.size.scopes <= 40)
    assert.ok(engine.size.tenants <= 14)
    assert.equal(count(engine, 1_000).limitStatus.key.rpm?.remaining, 0)
  })

  it('keeps requests in flight, however many others come', () => {
    const { engine, countRequests } = createBoundedEngine()
    engine.grant({ organization: 'org_0', epoch: 'life', sliceId: 'slice', amountMicro: 50, opens: true })
    start(engine, 0, 20)
    countRequests(100, 200)
    assert.equal(start(engine, 0, 1).admitted, false)
    assert.equal(engine.accounts('org_0')[0]?.slice?.leftMicro, 30)
  })

  it('keeps the slice of an organization without requests', () => {
    const { engine, countRequests } = createBoundedEngine()
    engine.grant({ organization: 'org_0', epoch: 'life', sliceId: 'slice', amountMicro: 50, opens: true })
    count(engine, 0)
    countRequests(100, 200)
    assert.equal(engine.accounts('org_0')[0]?.slice?.leftMicro, 50)
  })

  it('is empty again a day and an hour after the last request', () => {
    const { engine, time, countRequests } = createBoundedEngine()
    countRequests(5, 10)
    assert.equal(engine.size.tenants, 5)
    time.nowMs += 26 * 3_600_000
    count(engine, 6)
    assert.deepEqual(engine.size, { scopes: 3, tenants: 1 })
  })
})
