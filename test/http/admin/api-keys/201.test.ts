import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('API keys of a project', () => {
  const { house, admin, ask } = adminSuite()
  const keysPath = () => `/projects/${house().projectId}/api_keys`

  it('work from their creation to their revocation', async () => {
    const made = await ask('POST', keysPath(), { name: 'Chat', permissions: [], models: ['gatehouse-echo'] })
    assert.equal(made.status, 201)
    const { value, ...key } = made.body
    assert.partialDeepStrictEqual(key, {
      object: 'organization.project.api_key',
      project_id: house().projectId,
      name: 'Chat',
      permissions: [],
      models: ['gatehouse-echo'],
    })
    const speak = () => house().post('/v1/messages', hello, { authorization: `Bearer ${String(value)}` })
    assert.equal((await speak()).status, 200)
    const revoked = await ask('DELETE', `${keysPath()}/${textOf(key)}`)
    assert.deepEqual(revoked.body, { id: key['id'], object: 'organization.project.api_key.deleted', deleted: true })
    assert.equal((await speak()).status, 401)
    assert.equal((await ask('DELETE', `${keysPath()}/${textOf(key)}`)).status, 404)
    assert.equal(
      itemsOf(await admin().get(keysPath())).some(({ id }) => id === key['id']),
      false,
    )
  })

  it('are found in their own project only', async () => {
    const elsewhere = textOf(await admin().post('/projects', { name: 'Elsewhere' }))
    const id = textOf(await admin().post(keysPath(), { name: 'Mine' }))
    assert.equal((await ask('DELETE', `/projects/${elsewhere}/api_keys/${id}`)).status, 404)
    assert.deepEqual(itemsOf(await admin().get(`/projects/${elsewhere}/api_keys`)), [])
  })

  it('have all four gateway permissions unless they get fewer, and no others', async () => {
    const { permissions } = await admin().post(keysPath(), { name: 'All' })
    assert.deepEqual(permissions, ['gateway:read', 'gateway:write', 'exports:read', 'exports:write'])
    const answer = await ask('POST', keysPath(), { name: 'More', permissions: ['policies:write'] })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'permissions[0]'])
  })

  it('may do of the gateway what their maker may, and never more', async () => {
    const maker = await house().adminWith(['keys:write', 'gateway:read'])
    const { permissions } = await maker.post(keysPath(), { name: 'Same' })
    assert.deepEqual(permissions, ['gateway:read'])
    const answer = await maker.ask('POST', keysPath(), { body: { name: 'More', permissions: ['exports:write'] } })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [403, 'permissions'])
  })
})
