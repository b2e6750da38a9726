import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf, type Admin } from '../../support/administration.ts'
import { adminSuite } from '../../support/admin-suite.ts'

let keys = 0
/** An unused Idempotency-Key. */
const newKey = () => ({ 'idempotency-key': `key-${++keys}` })

describe('a mutation with an Idempotency-Key', () => {
  const { app, admin, policy } = adminSuite()
  const countOf = async (who: Admin) => itemsOf(await who.get('/audit_logs?limit=100')).length

  it('is made once, and a repeated request gets the same response, marked as a replay', async () => {
    const headers = newKey()
    const first = await admin().send('POST', '/policies', { body: '{"name":"One","rule":"r"}', headers })
    const written = await countOf(admin())
    const second = await admin().send('POST', '/policies', { body: '{ "rule": "r", "name": "One" }', headers })
    assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null])
    assert.deepEqual([second.status, second.headers.get('idempotent-replayed')], [201, 'true'])
    assert.deepEqual(second.body, first.body)
    assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'))
    assert.equal(await countOf(admin()), written)
  })

  it('gets the same response even if its revision is no longer current', async () => {
    const before = await policy({ rule: 'Be kind.' })
    const path = `/policies/${textOf(before)}/publish`
    const headers = newKey()
    const first = await admin().send('POST', path, { body: { revision: 1 }, headers })
    await admin().post(`/policies/${textOf(before)}/pause`, { revision: 2 })
    const second = await admin().send('POST', path, { body: { revision: 1 }, headers })
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.equal(second.headers.get('x-gatehouse-warning'), 'rule_not_evaluable')
    assert.equal((await admin().get(`/policies/${textOf(before)}`))['state'], 'paused')
  })

  it('can be a deletion', async () => {
    const path = `/policies/${textOf(await policy())}?revision=1`
    const headers = newKey()
    const first = await admin().send('DELETE', path, { headers })
    const second = await admin().send('DELETE', path, { headers })
    assert.deepEqual([second.status, second.body], [200, first.body])
    assert.equal((await admin().send('DELETE', path)).status, 404)
  })

  it('returns the secret of a new key again to the credential that created it', async () => {
    const headers = newKey()
    const first = await admin().send('POST', '/admin_api_keys', { body: { name: 'CI' }, headers })
    const second = await admin().send('POST', '/admin_api_keys', { body: { name: 'CI' }, headers })
    assert.equal(second.body['value'], first.body['value'])
    const colleague = await app().adminWith(['*'])
    const other = await colleague.send('POST', '/admin_api_keys', { body: { name: 'CI' }, headers })
    assert.deepEqual([other.status, other.headers.get('idempotent-replayed')], [201, null])
    assert.notEqual(other.body['value'], first.body['value'])
  })

  it('rejects the same Idempotency-Key with another request', async () => {
    const headers = newKey()
    const made = await admin().send('POST', '/policies', { body: { name: 'Another', rule: 'r' }, headers })
    for (const [method, path, body] of [
      ['POST', '/policies', { name: 'Two', rule: 'r' }],
      ['POST', '/projects', { name: 'One' }],
      ['PATCH', `/policies/${textOf(made.body)}`, { revision: 1, name: 'Two' }],
      ['DELETE', `/policies/${textOf(made.body)}?revision=1`, undefined],
    ] as const) {
      const answer = await admin().send(method, path, { body, headers })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'idempotency_key_reused'])
      assert.equal(errorOf(answer)['param'], 'Idempotency-Key')
    }
  })

  it('stores no error response, so the same Idempotency-Key can be used again', async () => {
    const before = await policy()
    const headers = newKey()
    const path = `/policies/${textOf(before)}/resume`
    assert.equal((await admin().send('POST', path, { body: { revision: 1 }, headers })).status, 409)
    assert.equal((await admin().send('POST', '/policies', { body: { name: '' }, headers })).status, 422)
    assert.equal((await admin().send('POST', '/policies', { body: { name: 'Now', rule: 'r' }, headers })).status, 201)
  })

  it('accepts an Idempotency-Key of 255 visible characters', async () => {
    const headers = { 'idempotency-key': '~'.repeat(255) }
    assert.equal((await admin().send('POST', '/projects', { body: { name: 'Long' }, headers })).status, 201)
  })

  it('ignores the key on routes that only read', async () => {
    const headers = newKey()
    await admin().send('GET', '/policies', { headers })
    const answer = await admin().send('GET', '/projects', { headers })
    assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [200, null])
  })
})
