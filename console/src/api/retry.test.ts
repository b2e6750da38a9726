import assert from 'node:assert/strict'
import { describe, it, mock, type TestContext } from 'node:test'
import { fetchWithinLimits } from './retry.ts'

const limited = (seconds?: string): Response =>
  new Response(null, { status: 429, headers: seconds === undefined ? {} : { 'retry-after': seconds } })
const request = (signal?: AbortSignal): Request =>
  new Request('https://gateway.example/v1/organization', { method: 'POST', body: 'x', ...(signal && { signal }) })

/** Answers with the responses in order, and keeps the bodies that were sent. */
function answerWith(t: TestContext, ...responses: readonly Response[]): string[] {
  const sent: string[] = []
  t.mock.method(globalThis, 'fetch', async (given: Request) => {
    sent.push(await given.text())
    return responses[sent.length - 1] ?? Response.error()
  })
  return sent
}

describe('a request over the limit', () => {
  it('is sent again with its body', async (t) => {
    const sent = answerWith(t, limited('0'), new Response('done'))
    const response = await fetchWithinLimits(request())
    assert.equal(await response.text(), 'done')
    assert.deepEqual(sent, ['x', 'x'])
  })
  it('is sent again after the wait that the server asks for, not before', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const timeout = mock.fn(globalThis.setTimeout)
    t.mock.method(globalThis, 'setTimeout', timeout)
    const sent = answerWith(t, limited('7'), new Response('done'))
    const response = fetchWithinLimits(request())
    while (timeout.mock.callCount() === 0) await new Promise(setImmediate)
    assert.equal(timeout.mock.calls[0]?.arguments[1], 7_000)
    assert.equal(sent.length, 1)
    t.mock.timers.tick(7_000)
    assert.equal((await response).status, 200)
  })
  it('is given up after three attempts', async (t) => {
    const sent = answerWith(t, limited('0'), limited('0'), limited('0'), new Response('late'))
    assert.equal((await fetchWithinLimits(request())).status, 429)
    assert.equal(sent.length, 3)
  })
  for (const wait of [undefined, '61', 'Wed, 18 Nov 2026 01:00:00 GMT'])
    it(`is not sent again if the server asks for ${wait ?? 'no wait'}`, async (t) => {
      const sent = answerWith(t, limited(wait), new Response('done'))
      assert.equal((await fetchWithinLimits(request())).status, 429)
      assert.equal(sent.length, 1)
    })
  it('ends while it waits when it is cancelled', async (t) => {
    const sent = answerWith(t, limited('60'), new Response('done'))
    const cancel = new AbortController()
    const response = fetchWithinLimits(request(cancel.signal))
    while (sent.length === 0) await new Promise(setImmediate)
    cancel.abort(new Error('replaced'))
    await assert.rejects(response, /replaced/)
  })
  it('does not wait when it was cancelled while the answer arrived', async (t) => {
    const cancel = new AbortController()
    t.mock.method(globalThis, 'fetch', async () => {
      cancel.abort(new Error('replaced'))
      return limited('60')
    })
    await assert.rejects(fetchWithinLimits(request(cancel.signal)), /replaced/)
  })
})

it('any other answer is returned as it is', async (t) => {
  const sent = answerWith(t, new Response(null, { status: 503, headers: { 'retry-after': '0' } }))
  assert.equal((await fetchWithinLimits(request())).status, 503)
  assert.equal(sent.length, 1)
})
