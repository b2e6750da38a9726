import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import { adminOf, errorOf, itemsOf, startAdminApp, textOf, type AdminApp } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

const statusOf = async (app: AdminApp, secret: string): Promise<number> =>
  (await app.post('/v1/messages', hello, { authorization: `Bearer ${secret}` })).status

describe('rotating an API key', () => {
  const { app, admin, send } = adminSuite()
  const keysPath = () => `/projects/${app().projectId}/api_keys`

  async function newKey(fields: object = {}) {
    const made = await admin().post(keysPath(), { name: 'Chat', ...fields })
    return { path: `${keysPath()}/${textOf(made)}`, id: textOf(made), secret: textOf(made, 'value') }
  }

  it('returns a new secret once, for the same key, and records it', async () => {
    const key = await newKey({ models: ['gatehouse-echo'] })
    const before = await admin().get(key.path)
    const { value, ...rotated } = await admin().post(`${key.path}/rotate`, { grace_seconds: 3600 })
    assert.match(String(value), /^ak_[0-9A-Za-z]{38}$/)
    assert.notEqual(value, key.secret)
    const { previous_expires_at: end, redacted_value: redacted, ...rest } = rotated
    const { redacted_value: oldRedacted, ...others } = before
    assert.deepEqual(rest, others)
    assert.equal(redacted, `ak_…${String(value).slice(-4)}`)
    assert.notEqual(redacted, oldRedacted)
    assert.ok(Math.abs(Number(end) - Date.now() / 1000 - 3600) < 60)
    assert.deepEqual(await admin().get(key.path), rotated)
    const [event] = itemsOf(await admin().get('/audit_logs?kind=api_key.rotated&limit=1'))
    assert.equal(event?.['resource_id'], key.id)
    assert.deepEqual(event?.['details'], { name: 'Chat', redacted_value: redacted, grace_seconds: 3600 })
    assert.equal(JSON.stringify(await admin().get('/audit_logs')).includes(String(value)), false)
  })

  it('without a grace time ends the old secret at once', async () => {
    const key = await newKey()
    assert.equal(await statusOf(app(), key.secret), 200)
    const next = textOf(await admin().post(`${key.path}/rotate`, { grace_seconds: 0 }), 'value')
    assert.deepEqual([await statusOf(app(), key.secret), await statusOf(app(), next)], [401, 200])
  })

  it('again during the grace time ends the oldest secret, and a revocation ends all', async () => {
    const key = await newKey()
    const second = textOf(await admin().post(`${key.path}/rotate`, { grace_seconds: 3600 }), 'value')
    const third = textOf(await admin().post(`${key.path}/rotate`, { grace_seconds: 3600 }), 'value')
    const all = () => Promise.all([key.secret, second, third].map((secret) => statusOf(app(), secret)))
    assert.deepEqual(await all(), [401, 200, 200])
    assert.equal((await send('DELETE', key.path)).status, 200)
    assert.deepEqual(await all(), [401, 401, 401])
    assert.equal((await send('POST', `${key.path}/rotate`, { grace_seconds: 0 })).status, 404)
  })

  it('happens once for the same Idempotency-Key', async () => {
    const key = await newKey()
    const rotate = () =>
      admin().send('POST', `${key.path}/rotate`, {
        body: { grace_seconds: 0 },
        headers: { 'Idempotency-Key': `rotate ${key.id}`.replace(' ', '-') },
      })
    const [first, again] = [await rotate(), await rotate()]
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    assert.equal(await statusOf(app(), textOf(first.body, 'value')), 200)
  })

  it('is forbidden for a caller that has less than the key', async () => {
    const key = await newKey({ permissions: ['gateway:read'] })
    const clerk = await app().adminWith(['keys:write'])
    const soon = Math.floor(Date.now() / 1000) + 3600
    const limits = [{ expires_at: soon }, { allowed_ips: ['127.0.0.1', '::1'] }]
    const limited = limits.map(async (fields) => {
      const made = await admin().post('/admin_api_keys', { name: 'Limited', ...fields })
      return adminOf(app().url, textOf(made, 'value'))
    })
    for (const caller of [clerk, ...(await Promise.all(limited))]) {
      const answer = await caller.send('POST', `${key.path}/rotate`, { body: { grace_seconds: 0 } })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    }
    assert.equal(await statusOf(app(), key.secret), 200)
  })

  it('rejects a grace time that is missing, negative or longer than 30 days', async () => {
    const key = await newKey()
    for (const body of [{}, { grace_seconds: -1 }, { grace_seconds: 2_592_001 }, { grace_seconds: 1.5 }]) {
      const answer = await send('POST', `${key.path}/rotate`, body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'grace_seconds'])
    }
  })
})

describe('the old secret of a rotated key', () => {
  it('works until the end of the grace time and not after it, with the same limits and permissions', async () => {
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    await using app = await startAdminApp({ clock })
    const path = `/projects/${app.projectId}/api_keys`
    const made = await app.admin.post(path, { name: 'Chat', permissions: ['gateway:read'], models: ['none'] })
    const old = textOf(made, 'value')
    const next = textOf(await app.admin.post(`${path}/${textOf(made)}/rotate`, { grace_seconds: 60 }), 'value')
    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
    for (const secret of [old, next]) {
      assert.equal((await app.get('/api/policy-gateway/config', bearer(secret))).status, 200)
      assert.equal(await statusOf(app, secret), 403)
    }
    passedMs = 61_000
    assert.equal((await app.get('/api/policy-gateway/config', bearer(old))).status, 401)
    assert.equal((await app.get('/api/policy-gateway/config', bearer(next))).status, 200)
    assert.ok('previous_expires_at' in (await app.admin.get(`${path}/${textOf(made)}`)))
  })

  it('is not returned to an expired key: it must get a later expiry first', async () => {
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    await using app = await startAdminApp({ clock })
    const soon = Math.floor(clock.nowMs() / 1000) + 60
    const made = await app.admin.post(`/projects/${app.projectId}/api_keys`, { name: 'Short', expires_at: soon })
    const path = `/projects/${app.projectId}/api_keys/${textOf(made)}`
    const early = await app.admin.post(`${path}/rotate`, { grace_seconds: 3600 })
    assert.equal(early['previous_expires_at'], soon)
    passedMs = 61_000
    const late = await app.admin.send('POST', `${path}/rotate`, { body: { grace_seconds: 0 } })
    assert.deepEqual([late.status, errorOf(late)['code']], [409, 'invalid_state'])
    assert.equal((await app.admin.send('PATCH', path, { body: { expires_at: null } })).status, 200)
    assert.equal((await app.admin.send('POST', `${path}/rotate`, { body: { grace_seconds: 0 } })).status, 200)
  })
})
