import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { startReceiver } from '../../../support/receiver.ts'

const secret = 'a-secret-of-the-webhook-0123'
const webhook = { kind: 'webhook', name: 'On call', config: { url: 'https://alerts.invalid/hook', secret } }

describe('alert channels', () => {
  const { admin, app, send } = adminSuite({ config: { exports: { allow_addresses: ['127.0.0.0/8'] } } })
  const audited = async (id: string): Promise<Json[]> =>
    itemsOf(await admin().get('/audit_logs')).filter((entry) => entry['resource_id'] === id)

  it('are created, read, listed, changed and deleted, with an audit event for each change', async () => {
    const created = await send('POST', '/alert_channels', webhook)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    const id = textOf(created.body)
    const { created_at: createdAt, updated_at: updatedAt, ...shown } = created.body
    assert.ok(typeof createdAt === 'number' && createdAt === updatedAt)
    assert.deepEqual(shown, {
      id,
      object: 'organization.alert_channel',
      kind: 'webhook',
      name: 'On call',
      paused: false,
      config: { url: 'https://alerts.invalid/hook', secret: '••••0123' },
      last_sent_at: null,
      last_error_at: null,
      last_error: null,
      waiting: 0,
    })
    assert.deepEqual(await admin().get(`/alert_channels/${id}`), created.body)
    assert.ok(itemsOf(await admin().get('/alert_channels')).some((item) => item['id'] === id))
    const changed = await send('PATCH', `/alert_channels/${id}`, { name: 'Night shift', paused: true })
    assert.deepEqual([changed.status, changed.body['name'], changed.body['paused']], [200, 'Night shift', true])
    const same = await send('PATCH', `/alert_channels/${id}`, { config: { secret: '••••0123' } })
    assert.equal(same.status, 200)
    const deleted = await send('DELETE', `/alert_channels/${id}`)
    assert.deepEqual(deleted.body, { id, object: 'organization.alert_channel.deleted', deleted: true })
    assert.equal((await send('GET', `/alert_channels/${id}`)).status, 404)
    const entries = (await audited(id)).toReversed()
    assert.deepEqual(
      entries.map((entry) => entry['kind']),
      ['alert_channel.created', 'alert_channel.updated', 'alert_channel.deleted'],
    )
    assert.deepEqual(entries[1]?.['details'], {
      name: 'Night shift',
      paused: true,
      before: { name: 'On call', paused: false },
    })
    assert.doesNotMatch(JSON.stringify(entries), new RegExp(secret))
  })

  it('are rejected with the name of the field that is wrong', async () => {
    const cases: [body: Json, param: string, message: RegExp][] = [
      [{ ...webhook, config: { url: 'https://alerts.invalid' } }, 'config.secret', /is required/],
      [
        { ...webhook, config: { ...webhook.config, token: 'x' } },
        'config.token',
        /not a field of this kind of channel/,
      ],
      [
        { ...webhook, config: { ...webhook.config, url: 'https://10.0.0.1/' } },
        'config.url',
        /exports\.allow_addresses/,
      ],
      [{ ...webhook, config: { ...webhook.config, url: 'ftp://x' } }, 'config.url', /https/],
      [{ ...webhook, kind: 'pager' }, 'kind', /webhook/],
      [
        { kind: 'slack', name: 'S', config: { url: 'https://192.168.0.1/hook' } },
        'config.url',
        /exports\.allow_addresses/,
      ],
      [{ kind: 'email', name: 'E', config: { to: ['not an address'] } }, 'config.to[0]', /email address/],
      [{ kind: 'email', name: 'E', config: { to: ['a@example.com'] } }, 'config', /mail\.smtp_url/],
    ]
    for (const [body, param, message] of cases) {
      const answer = await send('POST', '/alert_channels', body)
      assert.equal(answer.status, 422, JSON.stringify(answer.body))
      assert.equal(errorOf(answer)['param'], param, JSON.stringify(answer.body))
      assert.match(String(errorOf(answer)['message']), message)
    }
  })

  it('need their secret again when their address changes', async () => {
    const id = textOf(await admin().post('/alert_channels', webhook))
    const url = 'https://elsewhere.invalid/hook'
    const moved = await send('PATCH', `/alert_channels/${id}`, { config: { url } })
    assert.deepEqual([moved.status, errorOf(moved)['param']], [422, 'config.secret'])
    const both = await send('PATCH', `/alert_channels/${id}`, { config: { url, secret: `${secret}-new` } })
    assert.equal(both.status, 200)
  })

  it('mask the address of Slack, which is its credential', async () => {
    const url = 'https://hooks.invalid/services/T0/B0/a-long-credential'
    const { config } = await admin().post('/alert_channels', { kind: 'slack', name: 'Slack', config: { url } })
    assert.deepEqual(config, { url: '••••tial' })
  })

  it('are not deleted while a rule sends by them', async () => {
    const id = textOf(await admin().post('/alert_channels', webhook))
    const rule = { kind: 'spend', name: 'Spending', threshold: 5, channel_ids: [id] }
    const ruleId = textOf(await admin().post('/alert_rules', rule))
    const answer = await send('DELETE', `/alert_channels/${id}`)
    assert.equal(answer.status, 409)
    assert.match(String(errorOf(answer)['message']), /Spending/)
    await send('DELETE', `/alert_rules/${ruleId}`)
    assert.equal((await send('DELETE', `/alert_channels/${id}`)).status, 200)
  })

  it('send a test with a signature, and say what the other side answered', async (t) => {
    let status = 204
    const receiver = await startReceiver(t, () => ({ status }))
    const id = textOf(
      await admin().post('/alert_channels', { ...webhook, config: { url: `${receiver.origin}/in`, secret } }),
    )
    const { message_id: messageId, ...sent } = await admin().post(`/alert_channels/${id}/test`)
    assert.deepEqual(sent, {
      object: 'organization.alert_channel.test',
      success: true,
      message: 'The receiver answered 204.',
    })
    const [request] = receiver.requests
    assert.equal(request?.headers['webhook-id'], messageId)
    assert.match(String(request?.headers['webhook-signature']), /^v1,/)
    assert.partialDeepStrictEqual(JSON.parse(request?.text ?? ''), {
      type: 'alert.test',
      data: { message_id: messageId },
    })
    status = 500
    const failed = await admin().post(`/alert_channels/${id}/test`)
    assert.deepEqual([failed['success'], failed['message']], [false, 'The receiver answered 500.'])
    assert.ok((await audited(id)).some((entry) => entry['kind'] === 'alert_channel.tested'))
  })

  it('are limited to six tests a minute', async () => {
    const other = await app().otherOrganization()
    const id = textOf(await other.admin.post('/alert_channels', webhook))
    const statuses: number[] = []
    for (let at = 0; at < 8; at++) statuses.push((await other.admin.send('POST', `/alert_channels/${id}/test`)).status)
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429, 429])
  })
})

describe('an email channel', () => {
  const mail = { smtp_url: 'smtp://127.0.0.1:1', from: 'alerts@example.com', allow_domains: ['example.com'] }
  const { send } = adminSuite({ config: { mail } })

  it('sends to the domains that the operator allows only', async () => {
    const body = (to: string) => ({ kind: 'email', name: 'Mail', config: { to: [to] } })
    assert.equal((await send('POST', '/alert_channels', body('a@Example.com'))).status, 201)
    const answer = await send('POST', '/alert_channels', body('a@evil.test'))
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'config.to[0]'])
  })
})
