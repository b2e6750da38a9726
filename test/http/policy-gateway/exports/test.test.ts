import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'
import { startReceiver } from '../../../support/receiver.ts'

const secret = 'a-secret-of-the-webhook-0123'

describe('a test of an export sink', () => {
  const { scene, send } = gatewaySuite()
  const test = async (origin: string) => {
    const { id } = await scene().createSink({ url: origin, secret })
    const { status, body } = await send('POST', `/exports/${String(id)}/test`)
    assert.equal(status, 200)
    return body['test'] as Json
  }

  it('sends one event that is marked as a test, and reports that it was delivered', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 204 }))
    const { success, outcome, event_id: eventId } = await test(receiver.origin)
    assert.deepEqual([success, outcome], [true, 'delivered'])
    const [sent] = JSON.parse(receiver.requests[0]?.text ?? '').data
    assert.deepEqual([sent.metadata.uid, sent.metadata.event_code], [eventId, 'export.test'])
    const [entry] = itemsOf(await scene().admin.get('/audit_logs?kind=export.test&limit=1'))
    assert.equal(entry?.['id'], eventId)
  })

  it('reports the outcome in the gateway’s own words, not in those of the destination', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 401, body: 'a text that may hold anything' }))
    assert.deepEqual(
      { ...(await test(receiver.origin)), event_id: '' },
      {
        success: false,
        outcome: 'pause',
        message: 'The receiver answered 401. The credential is not accepted.',
        event_id: '',
      },
    )
  })

  it('accepts no body, and names the unknown field like every other route', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 204 }))
    const { id } = await scene().createSink({ url: receiver.origin, secret })
    const rejected = await send('POST', `/exports/${String(id)}/test`, { body: { message: 'Hello' } })
    assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'message'])
    assert.equal(receiver.requests.length, 0)
  })

  it('can be made six times a minute', async (t) => {
    const receiver = await startReceiver(t, () => ({ status: 204 }))
    const other = await scene().otherOrganization()
    const { key } = other.admin
    const body = { type: 'webhook', config: { url: receiver.origin, secret } }
    const made = await send('POST', '/exports', { key, body })
    const path = `/exports/${textOf(made.body['export'] as Json)}/test`
    for (let count = 0; count < 6; count++) assert.equal((await send('POST', path, { key })).status, 200)
    const rejected = await send('POST', path, { key })
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [429, 'rate_limit_exceeded'])
    assert.ok(Number(rejected.headers.get('retry-after')) > 0)
  })
})
