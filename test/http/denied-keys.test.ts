import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf, type Json } from '../support/administration.ts'
import { adminSuite } from '../support/admin-suite.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

describe('the audit log', () => {
  const { app, admin } = adminSuite()

  /** Events are written concurrently with the request, so these changes of the organization follow them in the chain. */
  async function deniedEvent(kind: string, id: string): Promise<Json> {
    for (let count = 0; count < 100; count++) {
      const events = itemsOf(await admin().get(`/audit_logs?kind=${kind}&limit=100`))
      const own = events.filter((event) => event['resource_id'] === id)
      if (own[0] !== undefined) {
        assert.equal(own.length, 1)
        return own[0]
      }
      await admin().post('/projects', { name: 'Later' })
    }
    throw new Error(`no event for ${id}`)
  }

  it('has one event for a revoked key that is used again, with the reason and the address', async () => {
    const path = `/projects/${app().projectId}/api_keys`
    const made = await admin().post(path, { name: 'Old' })
    await admin().send('DELETE', `${path}/${textOf(made)}`)
    const bearer = { authorization: `Bearer ${textOf(made, 'value')}` }
    for (let count = 0; count < 3; count++) assert.equal((await app().post('/v1/messages', hello, bearer)).status, 401)
    const event = JSON.stringify(await deniedEvent('api_key.denied', textOf(made)))
    assert.match(event, /"reason":"revoked"/)
    assert.match(event, /127\.0\.0\.1|::1/)
  })

  it('has one event for a replaced secret, and one for a key without the permission', async () => {
    const path = `/projects/${app().projectId}/api_keys`
    const made = await admin().post(path, { name: 'Rotated' })
    await admin().post(`${path}/${textOf(made)}/rotate`, { grace_seconds: 0 })
    const old = { authorization: `Bearer ${textOf(made, 'value')}` }
    assert.equal((await app().post('/v1/messages', hello, old)).status, 401)
    assert.match(JSON.stringify(await deniedEvent('api_key.denied', textOf(made))), /"reason":"expired"/)

    const clerk = await app().adminWith(['keys:read'])
    for (let count = 0; count < 2; count++) assert.equal((await clerk.send('GET', '/policies')).status, 403)
    const clerkKey = itemsOf(await admin().get('/admin_api_keys?limit=1'))[0] ?? {}
    const event = JSON.stringify(await deniedEvent('admin_api_key.denied', textOf(clerkKey)))
    assert.match(event, /"reason":"permission_denied"/)
  })
})
