import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('projects', () => {
  const { app, admin, send } = adminSuite()

  it('are created, read, renamed and listed', async () => {
    const made = await send('POST', '/projects', { name: 'Chat' })
    assert.equal(made.status, 201)
    const { id, created_at: _createdAt, ...rest } = made.body
    assert.match(String(id), /^proj_/)
    assert.deepEqual(rest, { object: 'organization.project', name: 'Chat', status: 'active', archived_at: null })
    const renamed = await send('PATCH', `/projects/${String(id)}`, { name: 'Support' })
    assert.deepEqual([renamed.status, renamed.body], [200, { ...made.body, name: 'Support' }])
    assert.deepEqual(await admin().get(`/projects/${String(id)}`), renamed.body)
    assert.equal(itemsOf(await admin().get('/projects'))[0]?.['name'], 'Support')
  })

  it('disable their keys when they are archived', async () => {
    const id = textOf(await admin().post('/projects', { name: 'Old' }))
    const { value } = await admin().post(`/projects/${id}/api_keys`, { name: 'k' })
    const speak = () => app().post('/v1/messages', hello, { authorization: `Bearer ${String(value)}` })
    assert.equal((await speak()).status, 200)
    const archived = await send('POST', `/projects/${id}/archive`)
    assert.deepEqual([archived.status, archived.body['status']], [200, 'archived'])
    assert.equal((await speak()).status, 401)
    assert.deepEqual((await send('POST', `/projects/${id}/archive`)).body, archived.body)
    assert.equal((await send('POST', `/projects/${id}/api_keys`, { name: 'k' })).status, 409)
    // The denial of the key is recorded after its request was answered, so it may be missing yet.
    const entries = itemsOf(await admin().get(`/audit_logs?project_id=${id}`)).filter(
      ({ kind }) => kind !== 'api_key.denied',
    )
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['project.archived', 'gateway.request.decided', 'api_key.created', 'project.created'],
    )
  })

  it('and their keys work again after they are unarchived', async () => {
    const id = textOf(await admin().post('/projects', { name: 'Back' }))
    const { value } = await admin().post(`/projects/${id}/api_keys`, { name: 'k' })
    const speak = async () =>
      (await app().post('/v1/messages', hello, { authorization: `Bearer ${String(value)}` })).status
    await send('POST', `/projects/${id}/archive`)
    assert.equal(await speak(), 401)
    const back = await send('POST', `/projects/${id}/unarchive`)
    assert.deepEqual([back.status, back.body['status'], back.body['archived_at']], [200, 'active', null])
    assert.equal(await speak(), 200)
    assert.deepEqual((await send('POST', `/projects/${id}/unarchive`)).body, back.body)
    assert.equal((await send('POST', '/projects/proj_none/unarchive')).status, 404)
    const kinds = itemsOf(await admin().get(`/audit_logs?project_id=${id}`)).map(({ kind }) => kind)
    assert.equal(kinds.filter((kind) => kind === 'project.unarchived').length, 1)
  })
})
