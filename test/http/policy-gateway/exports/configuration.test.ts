import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite, webhookConfig } from '../../../support/gateway-suite.ts'

const detailsOf = (entry: Json | undefined): Json => ({ ...(entry?.['details'] as Json) })
const splunk = { url: 'https://splunk.example.com:8088', token: '3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11' }

describe('an export sink', () => {
  const { scene, send } = gatewaySuite()
  const create = (body: Json) => send('POST', '/exports', { body })
  const change = (id: string, body: Json) => send('PATCH', `/exports/${id}`, { body })
  const configOf = ({ body }: { body: Json }): Json => (body['export'] as { config: Json }).config

  it('is created with the given fields, masked secrets, and times as text', async () => {
    const answer = await create({ type: 'splunk_hec', label: 'Security', enabled: false, config: splunk })
    assert.equal(answer.status, 201)
    const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = answer.body['export'] as Json
    assert.match(String(id), /^sink_/)
    assert.deepEqual([createdAt, new Date(String(createdAt)).toISOString()], [updatedAt, createdAt])
    assert.deepEqual(rest, {
      type: 'splunk_hec',
      label: 'Security',
      enabled: false,
      config: { ...splunk, token: '••••2f11' },
      last_success_at: null,
      last_error_at: null,
      last_error: null,
      health: {
        state: 'disabled',
        backlog_events: 0,
        oldest_unsent_at: null,
        next_attempt_at: null,
        dead_letters: 0,
        cost_files: null,
      },
    })
  })

  it('is rejected with the name of the field if its type or its configuration is invalid', async () => {
    const cases: [Json, string][] = [
      [{ type: 'carrier_pigeon', config: {} }, 'type'],
      [{ type: 'splunk_hec', config: { ...splunk, tokn: 'x' } }, 'config.tokn'],
      [{ type: 'splunk_hec', config: { url: splunk.url } }, 'config.token'],
      [{ type: 'splunk_hec', config: { ...splunk, token: '' } }, 'config.token'],
      [{ type: 'splunk_hec', config: { ...splunk, url: 'https://u:p@splunk.example.com' } }, 'config.url'],
      [{ type: 'splunk_hec' }, 'config'],
      [{ type: 'splunk_hec', config: splunk, colour: 'red' }, 'colour'],
      [{ type: 'splunk_hec', config: [] }, 'config'],
      [{ type: 'splunk_hec', config: splunk, enabled: 'yes' }, 'enabled'],
      [{ type: 'splunk_hec', config: splunk, start: 'never' }, 'start'],
    ]
    for (const [body, param] of cases) {
      const answer = await create(body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
    }
  })

  it('is changed field by field; a secret that is sent back masked is kept', async () => {
    const id = textOf(await scene().createSink(splunk, 'splunk_hec'))
    const shown = configOf(await send('GET', `/exports/${id}`))
    const answer = await change(id, { label: 'New', config: { ...shown, index: 'main' } })
    assert.deepEqual(configOf(answer), { ...splunk, token: '••••2f11', index: 'main' })
    assert.deepEqual(configOf(await change(id, { config: { index: null } })), { ...splunk, token: '••••2f11' })
    const exchanged = await change(id, { config: { token: 'another-token-0123456789' } })
    assert.deepEqual(configOf(exchanged), { ...splunk, token: '••••6789' })
  })

  it('rejects the mask of another secret', async () => {
    const auth = { type: 'basic', username: 'u', password: 'a-password-that-is-long' }
    const config = { url: 'https://elastic.example.com', auth }
    const id = textOf(await scene().createSink(config, 'elastic'))
    const masked = { ...auth, password: '••••then' }
    for (const answer of [
      await change(id, { config: { auth: masked } }),
      await create({ type: 'elastic', config: { ...config, auth: masked } }),
    ]) {
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'config.auth.password'])
    }
  })

  it('requires its secrets again if its destination changes', async () => {
    const id = textOf(await scene().createSink(splunk, 'splunk_hec'))
    for (const config of [
      { url: 'https://evil.example.com' },
      { url: 'https://evil.example.com', token: '••••2f11' },
    ]) {
      const answer = await change(id, { config })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'config.token'])
    }
    const again = await change(id, { config: { url: 'https://new.example.com', token: splunk.token } })
    assert.equal(again.status, 200)
  })

  it('cannot change its type', async () => {
    const id = textOf(await scene().createSink(splunk, 'splunk_hec'))
    assert.equal((await change(id, { type: 'splunk_hec' })).status, 200)
    const answer = await change(id, { type: 'webhook', config: webhookConfig })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'type'])
  })

  it('of S3 with a role gets an external id that the gateway generates and callers cannot choose', async () => {
    const auth = { type: 'assume_role', role_arn: 'arn:aws:iam::123456789012:role/export' }
    const config = { bucket: 'audit', region: 'eu-central-1', auth: { ...auth, external_id: 'chosen-by-a-stranger' } }
    const made = await create({ type: 's3', config })
    const given = (configOf(made)['auth'] as Json)['external_id']
    assert.match(String(given), /^gatehouse_/)
    const id = textOf(made.body['export'] as Json)
    const changed = await change(id, { config: { prefix: 'x/', auth: { external_id: 'chosen-again' } } })
    assert.equal((configOf(changed)['auth'] as Json)['external_id'], given)
  })

  it('does not exist once it is deleted, and its id is still valid as a cursor', async () => {
    const ids = [1, 2].map(async () => textOf(await scene().createSink(webhookConfig)))
    const [first = '', second = ''] = (await Promise.all(ids)).toSorted()
    const answer = await send('DELETE', `/exports/${second}`)
    assert.deepEqual([answer.status, answer.body], [200, { export: { id: second, deleted: true } }])
    assert.equal((await send('GET', `/exports/${second}`)).status, 404)
    assert.equal((await send('DELETE', `/exports/${second}`)).status, 404)
    const list = itemsOf((await send('GET', `/exports?after=${second}&limit=1`)).body)
    assert.equal(list[0]?.['id'], first)
  })

  it('is changed once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'make-one-sink' }
    const body = { type: 'webhook', label: 'Once', config: webhookConfig }
    const [first, second] = [
      await send('POST', '/exports', { body, headers }),
      await send('POST', '/exports', { body, headers }),
    ]
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.deepEqual(second.body, first.body)
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
    const other = await send('POST', '/exports', { body: { ...body, label: 'Other' }, headers })
    assert.deepEqual([other.status, errorOf(other)['code']], [409, 'idempotency_key_reused'])
  })

  it('is audited on every change, without a secret', async () => {
    const id = textOf(await scene().createSink(splunk, 'splunk_hec'))
    await change(id, { config: { token: 'another-token-0123456789' } })
    await send('DELETE', `/exports/${id}`)
    const entries = itemsOf(await scene().admin.get('/audit_logs?limit=100')).filter(
      (entry) => entry['resource_id'] === id,
    )
    assert.deepEqual(
      entries.map(({ kind, actor }) => [kind, (actor as Json)['type']]),
      [
        ['export_sink.deleted', 'api_key'],
        ['export_sink.updated', 'api_key'],
        ['export_sink.created', 'api_key'],
      ],
    )
    assert.deepEqual(detailsOf(entries[1])['secrets'], ['token'])
    assert.ok(!JSON.stringify(entries).includes(splunk.token))
  })

  it('is rejected above the maximum of fifty', async () => {
    const other = await scene().otherOrganization()
    const body = { type: 'webhook', enabled: false, config: webhookConfig }
    const statuses: number[] = []
    for (let count = 0; count < 51; count++) {
      statuses.push((await send('POST', '/exports', { body, key: other.admin.key })).status)
    }
    assert.deepEqual([statuses.slice(0, 50).every((status) => status === 201), statuses[50]], [true, 409])
  })
})
