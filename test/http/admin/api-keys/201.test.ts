import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, shortLivedMaker, startAdminApp, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'
import { operatorOf } from '../../../support/operator.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('API keys of a project', () => {
  const { app, admin, send } = adminSuite()
  const keysPath = () => `/projects/${app().projectId}/api_keys`

  it('work from their creation to their revocation', async () => {
    const made = await send('POST', keysPath(), { name: 'Chat', permissions: [], models: ['gatehouse-echo'] })
    assert.equal(made.status, 201)
    const { value, ...key } = made.body
    assert.partialDeepStrictEqual(key, {
      object: 'organization.project.api_key',
      project_id: app().projectId,
      name: 'Chat',
      permissions: [],
      models: ['gatehouse-echo'],
    })
    const speak = () => app().post('/v1/messages', hello, { authorization: `Bearer ${String(value)}` })
    assert.equal((await speak()).status, 200)
    const revoked = await send('DELETE', `${keysPath()}/${textOf(key)}`)
    assert.deepEqual(revoked.body, { id: key['id'], object: 'organization.project.api_key.deleted', deleted: true })
    assert.equal((await speak()).status, 401)
    assert.equal((await send('DELETE', `${keysPath()}/${textOf(key)}`)).status, 404)
    assert.equal(
      itemsOf(await admin().get(keysPath())).some(({ id }) => id === key['id']),
      false,
    )
  })

  it('are found in their own project only', async () => {
    const elsewhere = textOf(await admin().post('/projects', { name: 'Elsewhere' }))
    const id = textOf(await admin().post(keysPath(), { name: 'Mine' }))
    assert.equal((await send('DELETE', `/projects/${elsewhere}/api_keys/${id}`)).status, 404)
    assert.deepEqual(itemsOf(await admin().get(`/projects/${elsewhere}/api_keys`)), [])
  })

  it('may only call models unless they are created with more permissions', async () => {
    const made = await admin().post(keysPath(), { name: 'Inference' })
    assert.deepEqual(made['permissions'], [])
    const authorization = { authorization: `Bearer ${textOf(made, 'value')}` }
    assert.equal((await app().post('/v1/messages', hello, authorization)).status, 200)
    assert.equal((await app().get('/api/policy-gateway/config', authorization)).status, 403)
    const more = await admin().post(keysPath(), { name: 'Reader', permissions: ['gateway:read'] })
    const reader = { authorization: `Bearer ${textOf(more, 'value')}` }
    assert.equal((await app().get('/api/policy-gateway/config', reader)).status, 200)
    assert.deepEqual(itemsOf(await admin().get(keysPath())).find(({ id }) => id === more['id'])?.['permissions'], [
      'gateway:read',
    ])
  })

  it('cannot have administration permissions', async () => {
    const answer = await send('POST', keysPath(), { name: 'More', permissions: ['policies:write'] })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'permissions[0]'])
  })

  it('never have more permissions than the key that creates them', async () => {
    const maker = await app().adminWith(['keys:write', 'gateway:read'])
    const answer = await maker.send('POST', keysPath(), { body: { name: 'More', permissions: ['exports:write'] } })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [403, 'permissions'])
  })

  it('never outlive the key that creates them', async () => {
    const maker = await shortLivedMaker(admin(), app().url)
    const { expires_at: inherited } = await maker.post(keysPath(), { name: 'Same' })
    assert.equal(inherited, maker.expiresAt)
    assert.equal(
      (await maker.post(keysPath(), { name: 'Sooner', expires_at: maker.expiresAt - 1 }))['expires_at'],
      maker.expiresAt - 1,
    )
    for (const expires_at of [null, maker.expiresAt + 1]) {
      const answer = await maker.send('POST', keysPath(), { body: { name: 'Longer', expires_at } })
      assert.deepEqual(
        [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
        [403, 'permission_denied', 'expires_at'],
      )
    }
  })
})

describe('API keys with default permissions in the configuration', () => {
  it('have those of the default permissions that the key that creates them has', async () => {
    const config = { keys: { default_permissions: ['gateway:read', 'exports:read'] } }
    await using app = await startAdminApp({ config })
    const path = `/projects/${app.projectId}/api_keys`
    assert.deepEqual((await app.admin.post(path, { name: 'Default' }))['permissions'], ['gateway:read', 'exports:read'])
    assert.deepEqual((await app.admin.post(path, { name: 'Fewer', permissions: [] }))['permissions'], [])
    const maker = await app.adminWith(['keys:write', 'exports:read'])
    assert.deepEqual((await maker.post(path, { name: 'Held' }))['permissions'], ['exports:read'])
    const made = await operatorOf(app.app).createKey({ name: 'Command line' })
    assert.deepEqual(made.permissions, ['gateway:read', 'exports:read'])
  })
})
