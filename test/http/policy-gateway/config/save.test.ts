import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defaultConfiguration } from '../../../../src/domain/gateway-config/configuration.ts'
import { itemsOf, textOf, type Answer, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const defaults: Json = JSON.parse(JSON.stringify(defaultConfiguration))
const configOf = ({ body }: Answer): Json => ({ ...(body['config'] as Json) })

describe('the gateway configuration', () => {
  const { scene, send } = gatewaySuite()
  const save = async (body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await send('PUT', '/config', { body, headers })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer
  }
  const versionCount = async () => itemsOf((await send('GET', '/config/versions?limit=100')).body).length

  it('is the default before the first save', async () => {
    const { status, body } = await send('GET', '/config')
    assert.equal(status, 200)
    assert.deepEqual(body, {
      config: defaults,
      version: 0,
      rolled_back: false,
      created_at: null,
      updated_at: null,
      warnings: [],
    })
  })

  it('is readable as saved with every key of the organization, and with no other', async () => {
    const rules = { denylist: ['project x'], flagged_categories: ['hate', 'self-harm'], response_pattern: 'escalate' }
    const saved = await save({ policy_id: 'house', name: 'House', rules })
    assert.deepEqual(configOf(saved), {
      ...defaults,
      policy_id: 'house',
      name: 'House',
      rules: { ...(defaults['rules'] as Json), ...rules },
    })
    assert.match(textOf(saved.body, 'updated_at'), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.equal(saved.body['created_at'], saved.body['updated_at'])
    assert.deepEqual((await send('GET', '/config')).body, saved.body)
    assert.deepEqual((await send('GET', '/config', { key: scene().admin.key })).body, saved.body)
    const other = await scene().otherOrganization()
    assert.deepEqual(configOf(await send('GET', '/config', { key: other.admin.key })), defaults)
    assert.deepEqual(itemsOf((await send('GET', '/config/versions', { key: other.admin.key })).body), [])
  })

  it('can be sent back as it was returned, also inside its response envelope, without a change', async () => {
    const saved = await save({ name: 'Round trip', org_controls: { user_quota: { requests: 5, window: 'weekly' } } })
    const before = await versionCount()
    for (const method of ['PUT', 'POST']) {
      for (const body of [configOf(saved), { config: configOf(saved) }]) {
        assert.deepEqual((await send(method, '/config', { body })).body, saved.body)
      }
    }
    assert.equal(await versionCount(), before)
  })

  it('replaces the previous one as a whole: omitted fields get their defaults', async () => {
    await save({ name: 'Before', rules: { redact: true, denylist: ['rum'] } })
    const after = configOf(await save({ rules: { denylist: ['gin'] } }))
    assert.deepEqual([after['name'], after['rules']], [null, { ...(defaults['rules'] as Json), denylist: ['gin'] }])
  })

  it('normalises the names of windows, and removes duplicates', async () => {
    const saved = configOf(
      await save({ rules: { denylist: ['a', 'b', 'a'] }, org_controls: { project_quota: { window: 'monthly' } } }),
    )
    assert.deepEqual((saved['rules'] as Json)['denylist'], ['a', 'b'])
    const { project_quota: quota } = saved['org_controls'] as { project_quota: Json }
    assert.deepEqual(quota, { requests: 0, tokens: 0, window: 'month' })
  })

  it('holds a thousand long terms', async () => {
    const denylist = Array.from({ length: 1_000 }, (_, at) => `${at}`.padEnd(500, 'x'))
    assert.deepEqual((configOf(await save({ rules: { denylist } }))['rules'] as Json)['denylist'], denylist)
  })

  it('is kept in every version, newest first', async () => {
    await save({ name: 'First' })
    await save({ name: 'Second' })
    const { body } = await send('GET', '/config/versions?limit=2')
    const [newest, older] = itemsOf(body)
    assert.deepEqual(
      itemsOf(body).map((item) => (item['config'] as Json)['name']),
      ['Second', 'First'],
    )
    assert.equal(Number(newest?.['version']), Number(older?.['version']) + 1)
    assert.equal(body['has_more'], true)
    const rest = await send('GET', `/config/versions?after=${textOf(body, 'last_id')}&limit=1`)
    assert.equal(Number(itemsOf(rest.body)[0]?.['version']), Number(older?.['version']) - 1)
  })

  it('is saved once for an Idempotency-Key, even if the condition no longer holds', async () => {
    const { body: before } = await send('GET', '/config')
    const headers = { 'idempotency-key': 'once', 'if-match': textOf(before, 'updated_at') }
    const first = await save({ name: 'Once' }, headers)
    const again = await save({ name: 'Once' }, headers)
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    const otherBody = await send('PUT', '/config', { body: { name: 'Twice' }, headers })
    assert.equal(otherBody.status, 409)
  })

  it('is audited with the names of the changed fields, not with their values', async () => {
    await save({ name: 'Quiet' })
    await save({ name: 'Quiet', rules: { denylist: ['a-planted-term'] } })
    const events = itemsOf(await scene().admin.get('/audit_logs?kind=gateway.config.updated&limit=1'))
    assert.deepEqual(events[0]?.['details'], { changed_fields: ['rules.denylist'] })
    assert.ok(!JSON.stringify(events).includes('a-planted-term'))
  })
})
