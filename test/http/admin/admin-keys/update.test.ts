import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, errorOf, itemsOf, startAdminApp, textOf, type Admin } from '../../../support/administration.ts'

const first = async (admin: Admin): Promise<string> =>
  textOf(itemsOf(await admin.get('/admin_api_keys?order=asc&limit=1'))[0] ?? {})

const patch = (admin: Admin, id: string, body: object) => admin.send('PATCH', `/admin_api_keys/${id}`, { body })

const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3600

describe('changing an administrator key', () => {
  it('renames and restricts it, and records what changed', async () => {
    await using app = await startAdminApp()
    const made = await app.admin.post('/admin_api_keys', { name: 'CI', permissions: ['keys:read', 'audit:read'] })
    const other = adminOf(app.url, textOf(made, 'value'))
    assert.equal((await other.send('GET', '/audit_logs')).status, 200)
    const changed = await patch(app.admin, textOf(made), { name: 'Lists', permissions: ['keys:read'] })
    assert.partialDeepStrictEqual(changed.body, { name: 'Lists', permissions: ['keys:read'] })
    assert.equal((await other.send('GET', '/audit_logs')).status, 403)
    assert.equal((await other.send('GET', '/admin_api_keys')).status, 200)
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=admin_api_key.updated'))
    assert.deepEqual(event?.['details'], {
      name: 'Lists',
      permissions: ['keys:read'],
      before: { name: 'CI', permissions: ['keys:read', 'audit:read'] },
    })
  })

  it('gives it no more than the caller has', async () => {
    await using app = await startAdminApp()
    const clerk = await app.adminWith(['keys:write', 'keys:read', 'audit:read'])
    const id = textOf(await app.admin.post('/admin_api_keys', { name: 'CI', permissions: ['audit:read'] }))
    for (const permissions of [['*'], ['audit:read', 'usage:read']]) {
      const answer = await patch(clerk, id, { permissions })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [403, 'permissions'])
    }
    assert.equal((await patch(clerk, id, { permissions: ['audit:read', 'keys:read'] })).status, 200)
  })

  it('needs every permission of the key, so that its limits cannot be removed by a lesser key', async () => {
    await using app = await startAdminApp()
    const developer = await app.adminWith(['keys:write', 'keys:read'])
    const limits = { expires_at: inAnHour(), allowed_ips: ['192.0.2.1/32'] }
    const auditor = { name: 'Auditor', permissions: ['audit:read', 'content:read'], ...limits }
    const id = textOf(await app.admin.post('/admin_api_keys', auditor))
    for (const body of [{ allowed_ips: null }, { expires_at: null }, { name: 'Mine' }]) {
      const answer = await patch(developer, id, body)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
      assert.match(String(errorOf(answer)['message']), /the permissions audit:read, content:read of the key/)
    }
    assert.equal((await developer.send('DELETE', `/admin_api_keys/${id}`)).status, 403)
    assert.partialDeepStrictEqual(await app.admin.get(`/admin_api_keys/${id}`), { name: 'Auditor', ...limits })
  })

  it('with the permission * needs a caller with *, also for its name', async () => {
    await using app = await startAdminApp()
    const clerk = await app.adminWith(['keys:write'])
    for (const body of [{ name: 'Mine' }, { permissions: ['keys:read'] }]) {
      const answer = await patch(clerk, await first(app.admin), body)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    }
    assert.equal((await patch(app.admin, await first(app.admin), { name: 'Mine' })).status, 200)
  })

  it('cannot restrict the last key with * that works everywhere and always', async () => {
    await using app = await startAdminApp()
    const id = await first(app.admin)
    const owner = (more: object) => app.admin.post('/admin_api_keys', { name: 'Other', permissions: ['*'], ...more })
    const restrictions = () => [
      { permissions: ['keys:read', 'keys:write'] },
      { expires_at: inAnHour() },
      { allowed_ips: ['127.0.0.1', '::1'] },
    ]
    await owner({ expires_at: inAnHour() })
    const local = await owner({ allowed_ips: ['127.0.0.1', '::1'] })
    for (const body of restrictions()) {
      const answer = await patch(app.admin, id, body)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'last_admin_key'], JSON.stringify(body))
    }
    assert.equal((await app.admin.send('DELETE', `/admin_api_keys/${id}`)).status, 409)
    await owner({})
    assert.equal((await patch(app.admin, textOf(local), { allowed_ips: ['127.0.0.1'] })).status, 200)
    for (const body of restrictions().toReversed()) assert.equal((await patch(app.admin, id, body)).status, 200)
  })
})

describe('rotating an administrator key', () => {
  it('is possible for the key itself, and both secrets work for the grace time', async () => {
    await using app = await startAdminApp()
    const id = await first(app.admin)
    const rotated = await app.admin.post(`/admin_api_keys/${id}/rotate`, { grace_seconds: 3600 })
    const next = adminOf(app.url, textOf(rotated, 'value'))
    for (const admin of [app.admin, next]) assert.equal((await admin.send('GET', '/projects')).status, 200)
    const again = adminOf(
      app.url,
      textOf(await next.post(`/admin_api_keys/${id}/rotate`, { grace_seconds: 0 }), 'value'),
    )
    const statuses = await Promise.all([app.admin, next, again].map((each) => each.send('GET', '/projects')))
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [401, 401, 200],
    )
  })

  it('is forbidden for a caller that has less, so that it cannot get the secret of an owner', async () => {
    await using app = await startAdminApp()
    const clerk = await app.adminWith(['keys:write'])
    const path = `/admin_api_keys/${await first(app.admin)}/rotate`
    const answer = await clerk.send('POST', path, { body: { grace_seconds: 0 } })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    assert.equal((await app.admin.send('GET', '/projects')).status, 200)
  })
})
