import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rejected } from '../../domain/limits/admission.ts'
import { LimitedFault } from '../../domain/limits/limited-fault.ts'
import type { Metric } from '../../domain/limits/scopes.ts'
import { insufficientCredits, overLimit } from './limit-faults.ts'

const noLimits = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const unlimited = { key: noLimits, project: noLimits, organization: noLimits }

const rejectedFor = (reason: Rejected['reason'], given: Partial<Rejected> = {}): Rejected => ({
  admitted: false,
  atMs: 0,
  reason,
  scope: 'key',
  retryAfterMs: null,
  credits: null,
  limitStatus: unlimited,
  ...given,
})

describe('the fault of a request over a limit', () => {
  const faultFor = (reason: Metric, given: Partial<Rejected>) => overLimit(rejectedFor(reason, given), reason)

  it('names the wait, and carries the status of the limits', () => {
    const fault = faultFor('rpm', { retryAfterMs: 1_001 })
    assert.deepEqual(fault.details, { retryAfterSeconds: 1.001 })
    assert.ok(fault instanceof LimitedFault)
    assert.equal(fault.limitStatus, unlimited)
  })

  it('is permanent if the request is larger than the limit, and its wait lasts until the window is empty', () => {
    const limitStatus = { ...unlimited, key: { ...noLimits, tpm: { limit: 10, remaining: 3, resetMs: 42_000 } } }
    const fault = faultFor('tpm', { limitStatus })
    assert.deepEqual(fault.details, { retryAfterSeconds: 42, isPermanent: true })
    assert.match(fault.message, /may have 10 tokens a minute\. This request needs more\./)
  })
})

describe('the fault of a request that the credits do not cover', () => {
  const remedy = 'Add credits with gatehouse credits grant, or request fewer output tokens.'
  const faultOf = (neededCredits: number, remainingCredits: number) =>
    insufficientCredits({
      neededMicro: neededCredits * 1e6,
      remainingMicro: remainingCredits * 1e6,
      rejected: rejectedFor('credits', { scope: 'organization' }),
    })

  it('names what the request may cost and what is left', () => {
    assert.equal(faultOf(18, 10).message, `This request may cost 18 credits; 10 are left. ${remedy}`)
  })

  it('names the requests in flight if they hold the credits that are left', () => {
    const { message } = faultOf(18, 82)
    assert.equal(
      message,
      `This request may cost 18 credits; of the 82 left, requests in flight hold too many. ${remedy}`,
    )
  })

  it('names no wait, because waiting does not help', () => {
    assert.deepEqual(faultOf(18, 10).details, {})
  })
})
