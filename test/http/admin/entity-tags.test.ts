import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf } from '../../support/administration.ts'

describe('an ETag', () => {
  const { app, admin, send, policy } = adminSuite()
  const read = (path: string, tag?: string) =>
    fetch(`${app().url}${path}`, {
      headers: { authorization: `Bearer ${app().adminKey}`, ...(tag !== undefined && { 'if-none-match': tag }) },
    })

  it('is sent with every single object, and 304 without a body while nothing has changed', async () => {
    const made = textOf(await policy({}, ['publish']))
    const organization = '/v1/organization'
    const [event] = itemsOf(await admin().get('/audit_logs'))
    const [adminKey] = itemsOf(await admin().get('/admin_api_keys'))
    for (const path of [
      `${organization}/policies/${made}`,
      `${organization}/policies/${made}/versions/1`,
      `${organization}/projects/${app().projectId}`,
      `${organization}/admin_api_keys/${textOf(adminKey ?? {})}`,
      `${organization}/audit_logs/${textOf(event ?? {})}`,
      '/api/policy-gateway/config',
    ]) {
      const first = await read(path)
      const tag = first.headers.get('etag') ?? ''
      assert.match(tag, /^"[!#-~]+"$/, path)
      await first.text()
      for (const seen of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await read(path, seen)
        assert.deepEqual([again.status, again.headers.get('etag'), await again.text()], [304, tag, ''], path)
      }
      assert.equal((await read(path, '"other"')).status, 200)
    }
  })

  it('of a policy is its revision, and changes with it', async () => {
    const made = await policy()
    const path = `/policies/${textOf(made)}`
    const update = (ifMatch: string, body: object) =>
      admin().send('PATCH', path, { body, headers: { 'if-match': ifMatch } })
    const changed = await update('"1"', { revision: 1, mode: 'enforcing' })
    assert.deepEqual([changed.status, changed.headers.get('etag')], [200, '"2"'])
    assert.equal((await read(`/v1/organization${path}`, '"1"')).status, 200)
    const stale = await update('"1"', { revision: 2, mode: 'monitoring' })
    assert.deepEqual(
      [stale.status, errorOf(stale)['code'], errorOf(stale)['param']],
      [409, 'revision_conflict', 'If-Match'],
    )
    assert.equal((await update('*', { revision: 2, mode: 'monitoring' })).status, 200)
  })

  it('of the gateway configuration can be sent in If-Match', async () => {
    const save = (ifMatch: string, name: string) =>
      fetch(`${app().url}/api/policy-gateway/config`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${app().adminKey}`,
          'content-type': 'application/json',
          'if-match': ifMatch,
        },
        body: JSON.stringify({ name }),
      })
    const unsaved = (await read('/api/policy-gateway/config')).headers.get('etag') ?? ''
    const saved = await save(unsaved, 'one')
    assert.equal(saved.status, 200)
    const tag = (await read('/api/policy-gateway/config')).headers.get('etag') ?? ''
    assert.equal(saved.headers.get('etag'), tag)
    assert.equal((await save(unsaved, 'two')).status, 409)
    assert.equal((await save(tag, 'three')).status, 200)
  })

  it('of an audit event is not found in another organization', async () => {
    const [event] = itemsOf(await admin().get('/audit_logs'))
    const { admin: foreign } = await app().otherOrganization()
    const answer = await foreign.send('GET', `/audit_logs/${textOf(event ?? {})}`)
    assert.deepEqual([answer.status, errorOf(answer)['code']], [404, 'not_found'])
    assert.equal((await send('GET', '/audit_logs/evt_none')).status, 404)
  })
})
