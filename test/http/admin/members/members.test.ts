import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { permissionsOf } from '../../../../src/domain/identity/roles.ts'
import { errorOf, itemsOf, startAdminApp, textOf, type AdminApp } from '../../../support/administration.ts'

const ada = { email: 'Ada@Example.com', name: 'Ada', role: 'auditor' }

describe('members of an organization', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  it('are invited by email address in lower case, and listed with role and status', async () => {
    const { admin } = await app.otherOrganization()
    const made = await admin.post('/members', ada)
    assert.deepEqual(
      [made['email'], made['role'], made['role_source'], made['status'], made['last_seen_at']],
      ['ada@example.com', 'auditor', 'invitation', 'invited', null],
    )
    await admin.post('/members', { subject: 'sub-2', role: 'developer' })
    const idsOf = async (query: string) => itemsOf(await admin.get(`/members${query}`)).map((member) => textOf(member))
    assert.equal((await idsOf('')).length, 2)
    assert.deepEqual(await idsOf('?search=ADA'), [textOf(made)])
    assert.deepEqual(await idsOf('?role=auditor'), [textOf(made)])
    assert.deepEqual(await idsOf('?status=active'), [])
  })

  it('are invited once, with either an address or a subject', async () => {
    const { admin } = await app.otherOrganization()
    const made = await admin.post('/members', ada)
    const again = await admin.send('POST', '/members', { body: { ...ada, email: 'ADA@example.com' } })
    assert.deepEqual([again.status, errorOf(again)['code'], errorOf(again)['param']], [409, 'member_exists', 'email'])
    for (const body of [{ role: 'owner' }, { ...ada, subject: 'x' }, { email: 'no address', role: 'owner' }]) {
      const answer = await admin.send('POST', '/members', { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'email'], JSON.stringify(body))
    }
    assert.equal((await admin.send('DELETE', `/members/${textOf(made)}`)).status, 200)
    assert.equal((await admin.send('GET', `/members/${textOf(made)}`)).status, 404)
    assert.notEqual(textOf(await admin.post('/members', ada)), textOf(made))
  })

  it('get no role with more permissions than the caller has', async () => {
    const clerk = await app.adminWith(['members:read', 'members:write', 'usage:read', 'credits:write'])
    const owner = await clerk.send('POST', '/members', { body: { subject: 's1', role: 'owner' } })
    assert.deepEqual(
      [owner.status, errorOf(owner)['code'], errorOf(owner)['param']],
      [403, 'permission_denied', 'role'],
    )
    const made = await app.admin.post('/members', { subject: 's2', role: 'auditor' })
    const raised = await clerk.send('PATCH', `/members/${textOf(made)}`, { body: { role: 'publisher' } })
    assert.equal(raised.status, 403)
    assert.equal((await app.admin.get(`/members/${textOf(made)}`))['role'], 'auditor')
  })

  it('are admitted again after a suspension only by a caller with the permissions of their role', async () => {
    const clerk = await app.adminWith(['members:write', ...permissionsOf('reviewer')])
    const suspended = async (subject: string, role: string): Promise<string> => {
      const path = `/members/${textOf(await app.admin.post('/members', { subject, role }))}`
      assert.equal((await clerk.send('PATCH', path, { body: { status: 'suspended' } })).status, 200)
      return path
    }
    const publisher = await suspended('s4', 'publisher')
    const denied = await clerk.send('PATCH', publisher, { body: { status: 'active' } })
    assert.deepEqual([denied.status, errorOf(denied)['param']], [403, 'status'])
    assert.equal((await clerk.send('PATCH', publisher, { body: { status: 'active', role: 'reviewer' } })).status, 200)
    const reviewer = await suspended('s5', 'reviewer')
    assert.equal((await clerk.send('PATCH', reviewer, { body: { status: 'active' } })).status, 200)
  })

  it('who are owners are changed and removed by owners only', async () => {
    const clerk = await app.adminWith(['members:write'])
    const path = `/members/${textOf(await app.admin.post('/members', { subject: 's3', role: 'owner' }))}`
    for (const [method, body] of [
      ['PATCH', { status: 'suspended' }],
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const)
      assert.equal((await clerk.send(method, path, { body })).status, 403)
    assert.equal((await app.admin.send('DELETE', path)).status, 200)
  })

  it('leave an event of what changed in the audit log', async () => {
    const { admin } = await app.otherOrganization()
    const id = textOf(await admin.post('/members', ada))
    await admin.send('PATCH', `/members/${id}`, { body: { role: 'author', status: 'suspended' } })
    await admin.send('PATCH', `/members/${id}`, { body: { role: 'author' } }) // changes nothing
    await admin.send('DELETE', `/members/${id}`)
    const events = itemsOf(await admin.get('/audit_logs')).filter(({ resource_id: resource }) => resource === id)
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['member.removed', 'member.updated', 'member.created'],
    )
    assert.deepEqual(events[1]?.['details'], {
      before: { role: 'auditor', suspended: false },
      role: 'author',
      suspended: true,
    })
  })
})

describe('roles', () => {
  it('are listed from the highest, with permissions that an administrator key can have', async () => {
    await using app = await startAdminApp()
    const roles = itemsOf(await app.admin.get('/roles'))
    assert.deepEqual([textOf(roles[0] ?? {}), roles[0]?.['permissions']], ['owner', ['*']])
    for (const role of roles) {
      const key = await app.admin.post('/admin_api_keys', { name: 'K', role: textOf(role) })
      assert.deepEqual(key['permissions'], role['permissions'])
    }
  })

  it('of a new key are limited to the permissions of the key that creates it', async () => {
    await using app = await startAdminApp()
    const clerk = await app.adminWith(['keys:write'])
    const body = { name: 'K', role: 'auditor' }
    const denied = await clerk.send('POST', '/admin_api_keys', { body })
    assert.deepEqual([denied.status, errorOf(denied)['param']], [403, 'role'])
    const both = await app.admin.send('POST', '/admin_api_keys', { body: { ...body, permissions: ['*'] } })
    assert.deepEqual([both.status, errorOf(both)['param']], [422, 'role'])
  })
})

describe('sign-ins', () => {
  it('are listed with their key, and end at once', async () => {
    await using app = await startAdminApp()
    const id = await app.admin.signIn()
    const [signIn = {}] = itemsOf(await app.admin.get('/sign_ins'))
    const { name } = signIn['actor'] as { name: string }
    assert.deepEqual([signIn['id'], name, signIn['is_current']], [id, 'First administrator key', false])
    assert.equal((await app.admin.send('DELETE', `/sign_ins/${id}`)).status, 200)
    assert.deepEqual(itemsOf(await app.admin.get('/sign_ins')), [])
    assert.equal((await app.admin.send('DELETE', `/sign_ins/${id}`)).status, 404)
  })

  it('of a revoked key are not listed', async () => {
    await using app = await startAdminApp()
    const other = await app.adminWith(['*'])
    await other.signIn()
    const key = itemsOf(await app.admin.get('/admin_api_keys')).find(({ name }) => name === 'Test')
    assert.equal((await app.admin.send('DELETE', `/admin_api_keys/${textOf(key ?? {})}`)).status, 200)
    assert.deepEqual(itemsOf(await app.admin.get('/sign_ins')), [])
  })
})
