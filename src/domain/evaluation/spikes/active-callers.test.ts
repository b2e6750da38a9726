import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createActiveCallers, digestedCaller, maxCallersPerKey, maxKeys } from './active-callers.ts'

const allowed = { isDenial: false, isEnforced: true }
const denied = { isDenial: true, isEnforced: true }
const notObserved = { observedMinute: 0, matchedMinute: 0 }

const caller = (keyId: string, user = '') => digestedCaller({ keyId, user })

describe('the active callers of a version', () => {
  it('are written once a minute, and once more for the first denial of a minute', () => {
    const callers = createActiveCallers()
    callers.count(caller('key_1'), 7, allowed)
    callers.count(caller('key_1'), 7, allowed)
    assert.deepEqual(callers.takeUnwritten(), [
      { ...caller('key_1'), activeMinute: 7, deniedMinute: 0, ...notObserved },
    ])
    callers.count(caller('key_1'), 7, allowed)
    assert.deepEqual(callers.takeUnwritten(), [])
    callers.count(caller('key_1'), 7, denied)
    callers.count(caller('key_1'), 7, denied)
    assert.deepEqual(callers.takeUnwritten(), [
      { ...caller('key_1'), activeMinute: 7, deniedMinute: 7, ...notObserved },
    ])
  })

  it('count apart on the other side of a rollout', () => {
    const callers = createActiveCallers()
    callers.count(caller('key_1'), 7, { isDenial: false, isEnforced: false })
    callers.count(caller('key_1'), 8, { isDenial: true, isEnforced: false })
    const observed = { activeMinute: 0, deniedMinute: 0, observedMinute: 8, matchedMinute: 8 }
    assert.deepEqual(callers.takeUnwritten(), [{ ...caller('key_1'), ...observed }])
    callers.evictBefore(8)
    assert.equal(callers.isEmpty(), false)
  })

  it('are bounded, however many users a key invents and however many keys there are', () => {
    const callers = createActiveCallers()
    for (let at = 0; at < 1_000; at++) callers.count(caller('key_1', `user ${at}`), 7, denied)
    assert.equal(callers.takeUnwritten().length, maxCallersPerKey)
    for (let at = 0; at < 1_000; at++) callers.count(caller(`key_${at}`), 7, allowed)
    assert.equal(callers.takeUnwritten().length, maxKeys - 1)
  })

  it('keep digests of one length, not the names that callers send', () => {
    const { userDigest } = caller('key_1', 'x'.repeat(10_000))
    assert.equal(userDigest.length, 22)
    assert.notEqual(userDigest, caller('key_1', 'x').userDigest)
  })

  it('are evicted when their last request is old and written', () => {
    const callers = createActiveCallers()
    callers.count(caller('key_1'), 7, denied)
    callers.evictBefore(8)
    const taken = callers.takeUnwritten()
    callers.putBack(taken)
    callers.evictBefore(8)
    assert.deepEqual(callers.takeUnwritten(), taken)
    callers.evictBefore(8)
    callers.count(caller('key_1'), 9, allowed)
    assert.deepEqual(callers.takeUnwritten(), [
      { ...caller('key_1'), activeMinute: 9, deniedMinute: 0, ...notObserved },
    ])
  })
})
