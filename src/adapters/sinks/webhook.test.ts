import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { auditDocuments } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Handler } from '../../../test/support/receiver.ts'
import { jumpingClock, sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { webhook } from './webhook.ts'

const signal = new AbortController().signal
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
// An independent implementation of Standard Webhooks, which checks the signature and the age of the timestamp.
const { webhooks } = new OpenAI({ apiKey: 'unused' })

async function open(t: TestContext, handle: Handler = () => ({ status: 204 }), config: object = {}) {
  const receiver = await startReceiver(t, handle)
  const clock = jumpingClock(Date.now())
  const sink = webhook.open({ url: `${receiver.origin}/hooks/audit`, secret, ...config }, sinkParts(t, { clock }))
  return { sink, receiver }
}

describe('webhook', () => {
  for (const key of [secret, 'a plain-text secret of mine'.replaceAll(' ', '_')]) {
    it(`signs its requests (${key.slice(0, 6)}…) so that a receiver of the standard accepts them`, async (t) => {
      const { sink, receiver } = await open(t, undefined, { secret: key })
      const batch = auditDocuments({ count: 3 })
      assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 3 })
      const [request] = receiver.requests
      assert.ok(request)
      const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      await webhooks.verifySignature(request.text, headers, key)
      await assert.rejects(webhooks.verifySignature(request.text.replace('ada', 'eve'), headers, key))
      await assert.rejects(webhooks.verifySignature(request.text, headers, `${secret.slice(0, -4)}AAA=`))
      assert.equal(request.target, '/hooks/audit')
      assert.deepEqual(JSON.parse(request.text), { type: 'audit.events', data: batch })
    })
  }

  it('repeats a batch with the same id', async (t) => {
    const { sink, receiver } = await open(t)
    const batch = auditDocuments({ count: 3 })
    await sink.deliver(batch, signal)
    await sink.deliver(batch, signal)
    const [first, second] = receiver.requests.map(({ headers }) => headers['webhook-id'])
    assert.equal(first, second)
    assert.ok(first)
  })

  it('sends at most half a megabyte at once', async (t) => {
    const { sink, receiver } = await open(t)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 30, promptLength: 30_000 }), signal)), {
      delivered: 30,
    })
    assert.ok(receiver.requests.every(({ raw }) => raw.length <= 500_100))
    assert.equal(receiver.requests.length, 2)
  })

  const statuses: [number, string][] = [
    [200, 'delivered'],
    [302, 'config_error'],
    [400, 'reject'],
    [401, 'auth_error'],
    [403, 'auth_error'],
    [404, 'config_error'],
    [405, 'config_error'],
    [409, 'retry'],
    [410, 'config_error'],
    [413, 'reject'],
    [422, 'reject'],
    [429, 'retry'],
    [500, 'retry'],
    [599, 'retry'],
  ]
  for (const [status, expected] of statuses) {
    it(`maps ${status} to ${expected}`, async (t) => {
      const { sink } = await open(t, () => ({ status, headers: { location: 'http://127.0.0.1:1/' } }))
      const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(outcome?.kind === 'pause' ? outcome.state : outcome?.kind, expected)
    })
  }
})
