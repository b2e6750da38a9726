import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { startTestApp } from '../support/app.ts'
import { operatorOf } from '../support/operator.ts'

const question = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

/** A clock that the test advances by the reported wait. */
function createShiftedClock(): { clock: Clock; pass(ms: number): void } {
  let shiftMs = 0
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + shiftMs,
    monotonicMs: () => systemClock.monotonicMs() + shiftMs,
  }
  return { clock, pass: (ms) => void (shiftMs += ms) }
}

const headersOf = (answer: Response): Record<string, string> => Object.fromEntries(answer.headers)

describe('a caller over its limit', () => {
  const free = { rpm: 3, tpm: 0, rpd: 5, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

  it('is admitted after it has waited for Retry-After', async () => {
    const { clock, pass } = createShiftedClock()
    await using app = await startTestApp({ config: { limits: { tiers: { free } } }, clock })
    const send = (): Promise<Response> => app.post('/v1/messages', question)
    for (let count = 0; count < 3; count++) assert.equal((await send()).status, 200)
    const rejected = await send()
    assert.equal(rejected.status, 429)
    const waitSeconds = Number(rejected.headers.get('retry-after'))
    assert.ok(waitSeconds >= 1 && waitSeconds <= 61)
    pass(waitSeconds * 1000)
    assert.equal((await send()).status, 200)
    const day = await send() // the limit is five, and the rejected request was one of them
    assert.equal(day.status, 429)
    assert.equal(day.headers.get('x-should-retry'), 'false') // too long for a client to wait
    pass(Number(day.headers.get('retry-after')) * 1000)
    assert.equal((await send()).status, 200)
  })

  it('gets the limit in the format of its dialect, with the rate-limit headers', async () => {
    await using app = await startTestApp({ config: { limits: { tiers: { free: { ...free, rpm: 1 } } } } })
    const first = headersOf(await app.post('/v1/messages', { ...question, stream: true }))
    assert.equal(first['x-ratelimit-limit-requests'], '1')
    assert.equal(first['x-ratelimit-remaining-requests'], '0')
    assert.match(first['x-ratelimit-reset-requests'] ?? '', /^(1m\d+s|\d+s|\d+ms)$/)
    const bodies: Record<string, unknown> = {}
    for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
      const body = path === '/v1/responses' ? { model: 'gatehouse-echo', input: 'hi' } : question
      const rejected = await app.post(path, body)
      assert.equal(rejected.status, 429)
      assert.equal(headersOf(rejected)['x-ratelimit-remaining-requests'], '0')
      const { error } = (await rejected.json()) as { error: { message: string } }
      const seconds = Number(rejected.headers.get('retry-after'))
      assert.equal(error.message, `This API key may have 1 request a minute. Retry in ${seconds} seconds.`)
      bodies[path] = { ...error, message: '' }
    }
    const openai = { message: '', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' }
    const details = { error_code: 'rate_limit_exceeded' }
    assert.deepEqual(bodies['/v1/messages'], { type: 'rate_limit_error', message: '', details })
    assert.deepEqual(bodies['/v1/chat/completions'], openai)
    assert.deepEqual(bodies['/v1/responses'], openai)
  })

  it('gets x-should-retry: false for a request that is larger than the limit itself', async () => {
    await using app = await startTestApp({ config: { limits: { tiers: { free: { ...free, tpm: 20 } } } } })
    const rejected = await app.post('/v1/messages', { ...question, max_tokens: 100 })
    assert.equal(rejected.status, 429)
    assert.equal(headersOf(rejected)['x-should-retry'], 'false')
  })

  it('has another limit if an override was set', async () => {
    await using app = await startTestApp({ config: { limits: { tiers: { free } } } })
    const operator = operatorOf(app.app)
    const limit = async (): Promise<string | null> =>
      (await app.post('/v1/messages', question)).headers.get('x-ratelimit-limit-requests')
    assert.equal(await limit(), '3')
    await operator.updateOrganization({ plan: 'scale' })
    assert.equal(await limit(), '500')
    await operator.recordPayment({ usd: 1000, ref: 'one' })
    assert.equal(await limit(), '700')
    const { api_keys: apiKeys } = await operator.listKeys()
    await operator.setLimits({ api_key_id: apiKeys[0]?.id ?? '', limits: { rpm: 42 } })
    assert.equal(await limit(), '42')
    await operator.setLimits({ api_key_id: apiKeys[0]?.id ?? '', limits: {} })
    assert.equal(await limit(), '700')
  })
})
