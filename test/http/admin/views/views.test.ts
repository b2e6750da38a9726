import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp, textOf, type Admin, type AdminApp } from '../../../support/administration.ts'

const denied = { name: 'Denied', page: 'requests', query: 'status=denied&range=7d' }

describe('saved views', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  const namesFor = async (admin: Admin, query = ''): Promise<unknown[]> =>
    itemsOf(await admin.get(`/views${query}`)).map(({ name }) => name)
  const changesOf = async (kind: string): Promise<unknown[]> =>
    itemsOf(await app.admin.get(`/audit_logs?kind=${kind}`)).map((event) => event['resource_id'] ?? event['id'])

  it('are seen by their owner only, until they are shared', async () => {
    const [ada, ben] = [await app.adminWith(['audit:read', 'policies:write']), await app.adminWith(['audit:read'])]
    const view = await ada.post('/views', denied)
    assert.deepEqual(
      [view['name'], view['page'], view['query'], view['shared'], view['is_own']],
      [...Object.values(denied), false, true],
    )
    assert.deepEqual([await namesFor(ada), await namesFor(ben)], [['Denied'], []])
    assert.equal((await ben.send('GET', `/views/${textOf(view)}`)).status, 404)
    const shared = await ada.send('PATCH', `/views/${textOf(view)}`, { body: { shared: true } })
    assert.deepEqual([shared.status, shared.body['shared']], [200, true])
    assert.deepEqual(await namesFor(ben), ['Denied'])
    assert.equal((await ben.get(`/views/${textOf(view)}`))['is_own'], false)
    assert.equal((await ada.send('DELETE', `/views/${textOf(view)}`)).status, 200)
    assert.deepEqual(await namesFor(ben), [])
  })

  it('are listed by page', async () => {
    const ada = await app.adminWith(['audit:read'])
    await ada.post('/views', denied)
    await ada.post('/views', { ...denied, name: 'Changes', page: 'audit', query: '' })
    assert.deepEqual(await namesFor(ada), ['Changes', 'Denied'])
    assert.deepEqual(await namesFor(ada, '?page=audit'), ['Changes'])
    assert.deepEqual(await namesFor(ada, '?page=policies'), [])
  })

  it('are shared, and changed while they are shared, only with policies:write', async () => {
    const ben = await app.adminWith(['audit:read'])
    const answer = await ben.send('POST', '/views', { body: { ...denied, shared: true } })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    const own = await ben.post('/views', denied)
    assert.equal((await ben.send('PATCH', `/views/${textOf(own)}`, { body: { shared: true } })).status, 403)
    assert.equal((await ben.send('PATCH', `/views/${textOf(own)}`, { body: { name: 'Mine' } })).status, 200)
    assert.equal((await ben.send('DELETE', `/views/${textOf(own)}`)).status, 200)
  })

  it('of somebody else are changed and deleted only with the permission *', async () => {
    const [ada, ben] = [
      await app.adminWith(['audit:read', 'policies:write']),
      await app.adminWith(['audit:read', 'policies:write']),
    ]
    const path = `/views/${textOf(await ada.post('/views', { ...denied, shared: true }))}`
    assert.equal((await ben.send('PATCH', path, { body: { name: 'Taken' } })).status, 403)
    assert.equal((await ben.send('DELETE', path)).status, 403)
    assert.equal((await app.admin.send('PATCH', path, { body: { name: 'Tidied' } })).status, 200)
    assert.equal((await app.admin.send('DELETE', path)).status, 200)
    assert.equal((await ada.send('GET', path)).status, 404)
  })

  it('leave events in the audit log only while they are shared', async () => {
    const ada = await app.adminWith(['audit:read', 'policies:write'])
    const known = await Promise.all(['created', 'updated', 'deleted'].map((verb) => changesOf(`saved_view.${verb}`)))
    const own = `/views/${textOf(await ada.post('/views', denied))}`
    await ada.send('PATCH', own, { body: { name: 'Other' } })
    await ada.send('DELETE', own)
    const shared = `/views/${textOf(await ada.post('/views', { ...denied, shared: true }))}`
    await ada.send('PATCH', shared, { body: { name: 'Other', query: denied.query } })
    await ada.send('PATCH', shared, { body: { shared: false } })
    await ada.send('DELETE', shared)
    const now = await Promise.all(['created', 'updated', 'deleted'].map((verb) => changesOf(`saved_view.${verb}`)))
    assert.deepEqual(
      now.map((events, at) => events.length - (known[at]?.length ?? 0)),
      [1, 2, 0],
    )
    const [unshared, renamed] = itemsOf(await app.admin.get('/audit_logs?kind=saved_view.updated'))
    const detailsOf = (event: Readonly<Record<string, unknown>> | undefined) => event?.['details']
    assert.deepEqual(detailsOf(renamed), { name: 'Other', before: { name: 'Denied' } })
    assert.deepEqual(detailsOf(unshared), { shared: false, before: { shared: true } })
  })

  it('have a number that a key may save', async () => {
    const ada = await app.adminWith(['audit:read'])
    for (let at = 0; at < 100; at++) await ada.post('/views', { ...denied, name: `View ${at}` })
    const answer = await ada.send('POST', '/views', { body: denied })
    assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'view_limit_reached'])
  })

  it('are kept apart by organization', async () => {
    const { admin } = await app.otherOrganization()
    const view = await app.admin.post('/views', { ...denied, shared: true })
    assert.equal((await admin.send('GET', `/views/${textOf(view)}`)).status, 404)
    assert.deepEqual(await namesFor(admin), [])
    await app.admin.send('DELETE', `/views/${textOf(view)}`)
  })
})
