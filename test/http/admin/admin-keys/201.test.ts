import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, errorOf, itemsOf, shortLivedMaker, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

describe('administrator keys', () => {
  const { app, admin, send } = adminSuite()

  it('show their secret when they are created, and never again', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 3600
    const body = { name: 'CI', permissions: ['keys:read'], expires_at: expiresAt }
    const made = await send('POST', '/admin_api_keys', body)
    assert.equal(made.status, 201)
    const { value, ...key } = made.body
    assert.match(String(value), /^adm_[0-9A-Za-z]{38}$/)
    assert.partialDeepStrictEqual(key, {
      object: 'organization.admin_api_key',
      name: 'CI',
      permissions: ['keys:read'],
      expires_at: expiresAt,
      owner: { id: app().organizationId, type: 'organization' },
    })
    assert.equal('last_used_at' in key, false)
    assert.deepEqual(await admin().get(`/admin_api_keys/${textOf(key)}`), key)
    const listed = JSON.stringify(await admin().get('/admin_api_keys'))
    assert.equal(listed.includes(String(value)), false)
    assert.equal(JSON.stringify(await admin().get('/audit_logs')).includes(String(value)), false)
    assert.equal((await adminOf(app().url, String(value)).send('GET', '/admin_api_keys')).status, 200)
  })

  it('have the permissions of their creator by default, and never more', async () => {
    const maker = await app().adminWith(['keys:write', 'policies:read'])
    const { permissions } = await maker.post('/admin_api_keys', { name: 'Same' })
    assert.deepEqual(permissions, ['keys:write', 'policies:read'])
    for (const beyond of [['*'], ['policies:read', 'policies:write']]) {
      const answer = await maker.send('POST', '/admin_api_keys', { body: { name: 'More', permissions: beyond } })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [403, 'permissions'])
    }
  })

  it('never outlive the key that creates them', async () => {
    const maker = await shortLivedMaker(admin(), app().url)
    assert.equal((await maker.post('/admin_api_keys', { name: 'Same' }))['expires_at'], maker.expiresAt)
    for (const expires_at of [null, maker.expiresAt + 1]) {
      const answer = await maker.send('POST', '/admin_api_keys', { body: { name: 'Longer', expires_at } })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [403, 'expires_at'])
    }
  })

  it('are absent from lists and reads once they are revoked', async () => {
    const id = textOf(await admin().post('/admin_api_keys', { name: 'Gone' }))
    const revoked = await send('DELETE', `/admin_api_keys/${id}`)
    assert.deepEqual(revoked.body, { id, object: 'organization.admin_api_key.deleted', deleted: true })
    assert.equal((await send('DELETE', `/admin_api_keys/${id}`)).status, 404)
    assert.equal((await send('GET', `/admin_api_keys/${id}`)).status, 404)
    assert.equal(
      itemsOf(await admin().get('/admin_api_keys?limit=100')).some((key) => key['id'] === id),
      false,
    )
    assert.equal((await send('GET', `/admin_api_keys?after=${id}`)).status, 200) // a cursor on a revoked key stays valid
  })

  for (const [body, param] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'n', permissions: [] }, 'permissions'],
    [{ name: 'n', permissions: ['policies:own'] }, 'permissions[0]'],
    [{ name: 'n', expires_at: 1 }, 'expires_at'],
    [{ name: 'n', expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: 'n', value: 'adm_mine' }, 'value'],
  ] as const) {
    it(`name ${param} in ${JSON.stringify(body)}`, async () => {
      const answer = await send('POST', '/admin_api_keys', body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
    })
  }
})
