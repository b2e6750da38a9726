import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissions } from '../../../../src/domain/identity/permissions.ts'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, startAdminApp, textOf } from '../../../support/administration.ts'
import { openBrowser } from '../../../support/console.ts'

const inner = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }
const path = '/v1/organization/playground'

describe('the playground', () => {
  const { app, admin, send } = adminSuite()
  const bodyFor = (projectId: string) => ({ project_id: projectId, dialect: 'messages', body: inner })

  it('finds no project of another organization, and none that does not exist', async () => {
    const { projectId, admin: other } = await app().otherOrganization()
    for (const id of [projectId, 'proj_nobody']) {
      const answer = await send('POST', '/playground', bodyFor(id))
      assert.deepEqual(
        [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
        [404, 'not_found', 'project_id'],
      )
    }
    assert.equal((await other.send('POST', '/playground', { body: bodyFor(app().projectId) })).status, 404)
  })

  it('rejects an archived project', async () => {
    const project = await admin().post('/projects', { name: 'Old' })
    await admin().post(`/projects/${textOf(project)}/archive`)
    const answer = await send('POST', '/playground', bodyFor(textOf(project)))
    assert.deepEqual(
      [answer.status, errorOf(answer)['code'], errorOf(answer)['param']],
      [409, 'invalid_state', 'project_id'],
    )
  })

  it('rejects a dialect that does not exist, a body that is no object, and another project in X-Policy-Project', async () => {
    const dialect = await send('POST', '/playground', { ...bodyFor(app().projectId), dialect: 'completions' })
    assert.deepEqual([dialect.status, errorOf(dialect)['param']], [422, 'dialect'])
    const text = await send('POST', '/playground', { ...bodyFor(app().projectId), body: 'Hello' })
    assert.deepEqual([text.status, errorOf(text)['param']], [422, 'body'])
    const headers = { 'x-policy-project': 'proj_other' }
    const project = await admin().send('POST', '/playground', { body: bodyFor(app().projectId), headers })
    assert.deepEqual([project.status, errorOf(project)['code']], [403, 'project_mismatch'])
  })

  it('does nothing for a key without playground:use', async () => {
    const holder = await app().adminWith(permissions.filter((word) => word !== 'playground:use' && word !== '*'))
    const answer = await holder.send('POST', '/playground', { body: bodyFor(app().projectId) })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    const allowed = await app().adminWith(['playground:use'])
    assert.equal((await allowed.send('POST', '/playground', { body: bodyFor(app().projectId) })).status, 200)
  })

  it('continues a stored response only for a key with content:read, because the model could repeat its texts', async () => {
    const stored = await app().post('/v1/responses', { model: 'gatehouse-echo', input: 'The code is 4711.' })
    const { id, output } = (await stored.json()) as { id: string; output: { id: string }[] }
    const references = [
      { previous_response_id: id, input: 'Repeat it.' },
      { input: [{ type: 'item_reference', id: output[0]?.id }] },
    ]
    const without = await app().adminWith(permissions.filter((word) => word !== 'content:read' && word !== '*'))
    const holder = await app().adminWith(['playground:use', 'content:read'])
    for (const reference of references) {
      const body = {
        project_id: app().projectId,
        dialect: 'responses',
        body: { model: 'gatehouse-echo', ...reference },
      }
      const rejected = await without.send('POST', '/playground', { body })
      assert.equal(rejected.status, 403)
      assert.match(JSON.stringify(rejected.body), /content:read/)
      assert.doesNotMatch(JSON.stringify(rejected.body), /4711/)
      assert.equal((await holder.send('POST', '/playground', { body })).status, 200)
    }
  })

  it('rejects a cookie without the header of the console', async () => {
    const browser = openBrowser(app())
    await browser.signIn({ key: app().adminKey })
    const forged = await browser.post(path, bodyFor(app().projectId), { 'sec-fetch-site': 'same-origin' })
    assert.equal(forged.status, 403)
    const other = { 'sec-fetch-site': 'cross-site', 'x-gatehouse-console': '1' }
    assert.equal((await browser.post(path, bodyFor(app().projectId), other)).status, 403)
    assert.equal((await browser.post(path, bodyFor(app().projectId))).status, 200)
    assert.equal(
      (await browser.post('/v1/messages', inner)).status,
      401,
      'a session never counts at inference endpoints',
    )
  })

  it('never becomes the free request', async () => {
    const headers = { 'x-free-tier': 'true' }
    const answer = await admin().send('POST', '/playground', { body: bodyFor(app().projectId), headers })
    assert.equal(answer.status, 200)
    assert.equal(typeof answer.body['remaining_credits'], 'number', 'paid by the organization')
  })
})

describe('the playground within limits', () => {
  it('counts against the limits of the project', async () => {
    await using app = await startAdminApp({
      config: { limits: { tiers: { free: { rpm: 2, concurrent: { key: 0, project: 0, organization: 0 } } } } },
    })
    const body = { project_id: app.projectId, dialect: 'messages', body: inner }
    const statuses = []
    for (let sent = 0; sent < 3; sent++) {
      const answer = await app.admin.send('POST', '/playground', { body })
      statuses.push(answer.status)
      if (answer.status === 429) {
        assert.equal(answer.body['type'], 'error', 'in the format of the dialect')
        assert.ok(answer.headers.get('retry-after'))
      }
    }
    assert.deepEqual(statuses, [200, 200, 429])
  })
})
