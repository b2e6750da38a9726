import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp, textOf } from '../../../../support/administration.ts'

describe('listing policies', () => {
  it('returns an empty page without ids', async () => {
    await using app = await startAdminApp()
    const empty = { object: 'list', data: [], has_more: false, first_id: null, last_id: null }
    assert.deepEqual(await app.admin.get('/policies'), empty)
  })

  it('returns twenty at a time, newest first, without drafts and versions', async () => {
    await using app = await startAdminApp()
    const ids: string[] = []
    for (let count = 0; count < 21; count++)
      ids.unshift(textOf(await app.admin.post('/policies', { name: `P${count}`, rule: 'r' })))
    const first = await app.admin.get('/policies')
    assert.deepEqual(
      itemsOf(first).map(({ id }) => id),
      ids.slice(0, 20),
    )
    assert.deepEqual([first['has_more'], first['first_id'], first['last_id']], [true, ids[0], ids[19]])
    const last = await app.admin.get(`/policies?after=${String(first['last_id'])}`)
    assert.deepEqual([itemsOf(last).length, last['has_more'], last['last_id']], [1, false, ids[20]])
    const oldest = await app.admin.get('/policies?order=asc&limit=3')
    assert.deepEqual(
      itemsOf(oldest).map(({ id }) => id),
      ids.toReversed().slice(0, 3),
    )
    assert.equal('draft' in (itemsOf(first)[0] ?? {}) || 'published' in (itemsOf(first)[0] ?? {}), false)
  })

  it('validates its parameters', async () => {
    await using app = await startAdminApp()
    for (const query of ['limit=0', 'limit=101', 'limit=many', 'limit=1.5', 'order=up', 'limit=1&limit=2']) {
      const answer = await app.admin.send('GET', `/policies?${query}`)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [422, 'invalid_parameter'], query)
    }
  })
})
