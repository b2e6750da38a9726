import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { createUpstreamHealth } from './health.ts'
import { upstreamStateOf } from './upstream-status.ts'

function createScene() {
  const { clock, advance } = createHandClock()
  const health = createUpstreamHealth(clock)
  return { advance, health, state: () => upstreamStateOf(health.conditionOf('one')) }
}

describe('the condition of an upstream', () => {
  it('is unknown before the first call, and ok after a success', () => {
    const { health, state } = createScene()
    assert.equal(state(), 'unknown')
    health.succeeded('one')
    assert.equal(state(), 'ok')
  })

  it('is failing after one failure, resting after three, and failing again when the cooldown is over', () => {
    const { advance, health, state } = createScene()
    health.failed('one', 'upstream_timeout')
    assert.equal(state(), 'failing')
    health.failed('one')
    health.failed('one')
    assert.equal(state(), 'resting')
    assert.equal(health.conditionOf('one').cooldownLeftMs, 15_000)
    advance(15_000)
    assert.equal(state(), 'failing')
    assert.equal(health.conditionOf('one').failures, 3)
    health.succeeded('one')
    assert.equal(state(), 'ok')
  })

  it('rests for longer at the first failure if the account is out of quota', () => {
    const { health } = createScene()
    health.failed('one', 'upstream_quota_exhausted')
    assert.equal(health.conditionOf('one').cooldownLeftMs, 60_000)
  })

  it('keeps the last error after a success, and does not count calls beyond the gateway’s own limit', () => {
    const { advance, health, state } = createScene()
    advance(1_000)
    for (let call = 0; call < 5; call++) health.failed('one', 'upstream_busy')
    health.succeeded('one')
    assert.equal(state(), 'ok')
    assert.deepEqual(health.conditionOf('one').lastError, { code: 'upstream_busy', atMs: 1_000 })
  })

  it('has the time in which 95 of the last calls began to be answered', () => {
    const { health } = createScene()
    assert.equal(health.conditionOf('one').p95Ms, null)
    for (let ms = 1; ms <= 100; ms++) health.succeeded('one', ms)
    assert.equal(health.conditionOf('one').p95Ms, 95)
    for (let call = 0; call < 200; call++) health.succeeded('one', 7)
    assert.equal(health.conditionOf('one').p95Ms, 7)
  })
})
