import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, errorOf, itemsOf, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('changing an API key', () => {
  const { app, admin, send } = adminSuite()
  const keysPath = () => `/projects/${app().projectId}/api_keys`

  async function newKey(fields: object = {}) {
    const made = await admin().post(keysPath(), { name: 'Chat', ...fields })
    return { path: `${keysPath()}/${textOf(made)}`, secret: textOf(made, 'value') }
  }

  it('takes effect at once, leaves the other fields as they are, and records what changed', async () => {
    const key = await newKey({ permissions: ['gateway:read'], models: ['gatehouse-echo'] })
    const bearer = { authorization: `Bearer ${key.secret}` }
    assert.equal((await app().get('/api/policy-gateway/config', bearer)).status, 200)
    const changed = await send('PATCH', key.path, { name: 'Renamed', permissions: [], models: ['another'] })
    assert.equal(changed.status, 200)
    assert.partialDeepStrictEqual(changed.body, { name: 'Renamed', permissions: [], models: ['another'] })
    assert.equal('value' in changed.body, false)
    assert.equal((await app().get('/api/policy-gateway/config', bearer)).status, 403)
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 403)
    const [event] = itemsOf(await admin().get('/audit_logs?kind=api_key.updated&limit=1'))
    assert.deepEqual(event?.['details'], {
      name: 'Renamed',
      permissions: [],
      models: ['another'],
      before: { name: 'Chat', permissions: ['gateway:read'], models: ['gatehouse-echo'] },
    })
    const opened = await send('PATCH', key.path, { models: null })
    assert.partialDeepStrictEqual(opened.body, { name: 'Renamed', models: null })
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 200)
  })

  it('that changes nothing records nothing', async () => {
    const key = await newKey()
    const count = async () => itemsOf(await admin().get('/audit_logs?kind=api_key.updated&limit=100')).length
    const before = await count()
    const same = [{}, { name: 'Chat' }, { models: null, expires_at: null, allowed_ips: null, permissions: [] }]
    for (const body of same) assert.equal((await send('PATCH', key.path, body)).status, 200)
    assert.equal(await count(), before)
  })

  it('can restrict the key to addresses and to an end', async () => {
    const key = await newKey()
    const bearer = { authorization: `Bearer ${key.secret}` }
    const end = Math.floor(Date.now() / 1000) + 3600
    const changed = await send('PATCH', key.path, { allowed_ips: ['192.0.2.7'], expires_at: end })
    assert.partialDeepStrictEqual(changed.body, { allowed_ips: ['192.0.2.7/32'], expires_at: end })
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 403)
    const past = await send('PATCH', key.path, { expires_at: 1 })
    assert.deepEqual([past.status, errorOf(past)['param']], [422, 'expires_at'])
    const wrong = await send('PATCH', key.path, { allowed_ips: ['nowhere'] })
    assert.deepEqual([wrong.status, errorOf(wrong)['param']], [422, 'allowed_ips[0]'])
  })

  it('needs every permission of the key, also to revoke it, and names what is missing', async () => {
    const clerk = await app().adminWith(['keys:write', 'gateway:read'])
    const soon = Math.floor(Date.now() / 1000) + 3600
    const permissions = ['gateway:read', 'gateway:write', 'exports:write']
    const key = await newKey({ permissions, expires_at: soon, allowed_ips: ['127.0.0.1', '::1'] })
    const before = await admin().get(key.path)
    const changes = [{ allowed_ips: null }, { expires_at: null }, { name: 'Mine' }, { permissions: [] }]
    for (const body of changes) {
      const answer = await clerk.send('PATCH', key.path, { body })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
      const message =
        'This credential lacks the permissions gateway:write, exports:write of the key and cannot change it.'
      assert.equal(errorOf(answer)['message'], message)
    }
    const revoked = await clerk.send('DELETE', key.path)
    assert.deepEqual([revoked.status, errorOf(revoked)['code']], [403, 'permission_denied'])
    assert.match(String(errorOf(revoked)['message']), /gateway:write, exports:write of the key and cannot revoke it/)
    assert.deepEqual(await admin().get(key.path), before)
    const lesser = await newKey({ permissions: ['gateway:read'] })
    assert.equal((await clerk.send('PATCH', lesser.path, { body: { name: 'Ours' } })).status, 200)
    assert.equal((await clerk.send('DELETE', lesser.path)).status, 200)
  })

  it('gives it no more than the caller has, but leaves what it had before', async () => {
    const soon = Math.floor(Date.now() / 1000) + 3600
    const made = await admin().post('/admin_api_keys', {
      name: 'Limited',
      permissions: ['keys:write', 'gateway:read', 'exports:read'],
      expires_at: soon,
      allowed_ips: ['127.0.0.0/8', '::1'],
    })
    const limited = adminOf(app().url, textOf(made, 'value'))
    const key = await newKey({ permissions: ['exports:read'], expires_at: soon + 10, allowed_ips: ['10.0.0.0/8'] })
    const patch = (body: object) => limited.send('PATCH', key.path, { body })
    for (const [body, param] of [
      [{ permissions: ['exports:read', 'exports:write'] }, 'permissions'],
      [{ expires_at: soon + 20 }, 'expires_at'],
      [{ expires_at: null }, 'expires_at'],
      [{ allowed_ips: ['10.0.0.0/8', '192.0.2.1'] }, 'allowed_ips'],
      [{ allowed_ips: null }, 'allowed_ips'],
    ] as const) {
      const answer = await patch(body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [403, param])
    }
    for (const body of [
      { permissions: ['exports:read', 'gateway:read'] },
      { expires_at: soon + 5 },
      { allowed_ips: ['10.1.0.0/16'] },
      { allowed_ips: ['127.0.0.1'] },
      { name: 'Renamed' },
    ])
      assert.equal((await patch(body)).status, 200, JSON.stringify(body))
  })

  it('keeps both changes of two callers at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const key = await newKey({ permissions: ['gateway:read'] })
      await Promise.all([
        send('PATCH', key.path, { permissions: [] }),
        send('PATCH', key.path, { name: 'Other' }),
        send('PATCH', key.path, { models: ['m'] }),
      ])
      assert.partialDeepStrictEqual(await admin().get(key.path), { name: 'Other', permissions: [], models: ['m'] })
    }
  })

  it('rejects a name of spaces, for keys and projects', async () => {
    const key = await newKey()
    for (const name of ['', ' ', ' \t\u00a0\u200b'])
      for (const [method, path] of [
        ['PATCH', key.path],
        ['POST', keysPath()],
        ['POST', '/admin_api_keys'],
        ['POST', '/projects'],
        ['PATCH', `/projects/${app().projectId}`],
      ] as const) {
        const answer = await send(method, path, { name })
        assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'name'], `${method} ${path}`)
      }
  })
})
