import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('limit overrides', () => {
  const { app, admin, send } = adminSuite()

  it('apply at once to the organization, a project or a key, are listed, and end with a DELETE', async () => {
    const made = await admin().post(`/projects/${app().projectId}/api_keys`, { name: 'Slow' })
    const [keyId, projectId, organizationId] = [textOf(made), app().projectId, app().organizationId]
    const bearer = { authorization: `Bearer ${textOf(made, 'value')}` }
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 200)
    const set = await send('PUT', '/limits/overrides', { api_key_id: keyId, limits: { rpm: 1 } })
    assert.deepEqual(set.body, { subject_id: keyId, scope: 'key', limits: { rpm: 1 } })
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 429)
    await send('PUT', '/limits/overrides', { project_id: projectId, limits: { tpm: 10_000_000 } })
    await send('PUT', '/limits/overrides', { limits: { rpd: 0 } })
    const { data } = await admin().get('/limits/overrides')
    assert.ok(Array.isArray(data))
    assert.deepEqual(data.map(({ scope, subject_id: id }) => `${scope} ${id}`).toSorted(byText), [
      `key ${keyId}`,
      `organization ${organizationId}`,
      `project ${projectId}`,
    ])
    assert.equal((await send('DELETE', `/limits/overrides?api_key_id=${keyId}`)).status, 200)
    assert.equal((await app().post('/v1/messages', hello, bearer)).status, 200)
    await send('DELETE', `/limits/overrides?project_id=${projectId}`)
    await send('DELETE', '/limits/overrides')
    assert.deepEqual((await admin().get('/limits/overrides'))['data'], [])
  })

  it('name the field of a subject that does not exist or belongs to others, and of two subjects', async () => {
    const { projectId } = await app().otherOrganization()
    for (const [subject, param] of [
      [{ project_id: projectId }, 'project_id'],
      [{ api_key_id: 'key_none' }, 'api_key_id'],
      [{ project_id: app().projectId, api_key_id: 'key_none' }, 'api_key_id'],
    ] as const) {
      const answer = await send('PUT', '/limits/overrides', { ...subject, limits: {} })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      const query = new URLSearchParams(subject).toString()
      assert.equal((await send('DELETE', `/limits/overrides?${query}`)).status, 422)
    }
    const answer = await send('PUT', '/limits/overrides', { limits: { rpm: -1 } })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'limits.rpm'])
  })
})

const byText = (one: string, other: string): number => (one < other ? -1 : 1)
