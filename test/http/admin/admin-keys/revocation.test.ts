import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../../../src/base/clock.ts'
import {
  adminOf,
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type Admin,
  type AdminApp,
  type Answer,
} from '../../../support/administration.ts'
import { createScratchDatabase, withoutPostgres } from '../../../support/postgres.ts'
import { operatorOf } from '../../../support/operator.ts'

const revoke = (admin: Admin, id: string): Promise<Answer> => admin.send('DELETE', `/admin_api_keys/${id}`)

/** A further key with all permissions. */
async function owner(admin: Admin, url: string, more: object = {}): Promise<Admin & { readonly id: string }> {
  const made = await admin.post('/admin_api_keys', { name: 'Owner', permissions: ['*'], ...more })
  return { ...adminOf(url, textOf(made, 'value')), id: textOf(made) }
}

/** The oldest key of an organization. */
async function firstKey(admin: Admin): Promise<string> {
  const [first] = itemsOf(await admin.get('/admin_api_keys?order=asc&limit=1'))
  return textOf(first ?? {})
}

describe('revoking an administrator key', () => {
  it('is forbidden if the key has a permission that the caller’s key does not have', async () => {
    await using app = await startAdminApp()
    const { id } = await owner(app.admin, app.url)
    const clerk = await app.adminWith(['keys:read', 'keys:write'])
    const rejected = await revoke(clerk, id)
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [403, 'permission_denied'])
    assert.match(String(errorOf(rejected)['message']), /\*/)
    assert.equal((await app.admin.send('GET', `/admin_api_keys/${id}`)).status, 200)
    const lesser = textOf(await app.admin.post('/admin_api_keys', { name: 'Lesser', permissions: ['audit:read'] }))
    const refused = await revoke(clerk, lesser)
    assert.deepEqual([refused.status, errorOf(refused)['code']], [403, 'permission_denied'])
    assert.match(String(errorOf(refused)['message']), /lacks the permission audit:read of the key and cannot revoke it/)
    const equal = textOf(await app.admin.post('/admin_api_keys', { name: 'Equal', permissions: ['keys:read'] }))
    assert.equal((await revoke(clerk, equal)).status, 200)
  })

  it('is rejected for the last key with all permissions, unless the operator does it on the machine', async () => {
    await using app = await startAdminApp()
    await app.adminWith(['keys:read', 'keys:write'])
    const id = await firstKey(app.admin)
    const rejected = await revoke(app.admin, id)
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'last_admin_key'])
    assert.equal((await app.admin.send('GET', '/admin_api_keys')).status, 200)
    await operatorOf(app.app).revokeKey(id)
    assert.equal((await app.admin.send('GET', '/admin_api_keys')).status, 401)
  })

  it('does not count keys that are revoked, expired, or of another organization', async () => {
    let passedMs = 0
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
    await using app = await startAdminApp({ clock })
    await app.otherOrganization()
    const gone = await owner(app.admin, app.url)
    assert.equal((await revoke(app.admin, gone.id)).status, 200)
    const expiring = await owner(app.admin, app.url, { expires_at: Math.floor(clock.nowMs() / 1000) + 60 })
    passedMs = 61_000
    assert.equal((await revoke(app.admin, await firstKey(app.admin))).status, 409)
    // The key has expired, so revoking it takes no access away.
    assert.equal((await revoke(app.admin, expiring.id)).status, 200)
  })

  it('leaves one key if two revoke each other at the same time', async () => {
    await using app = await startAdminApp()
    for (let round = 0; round < 5; round++) await raceEachOther(app)
  })

  it('leaves one key if two revoke each other at the same time, on PostgreSQL', { skip: withoutPostgres }, async () => {
    await using scratch = await createScratchDatabase()
    const secret = 'a secret of the server, long enough'
    await using app = await startAdminApp({ storage: { database_url: scratch.url }, config: { secret } })
    for (let round = 0; round < 5; round++) await raceEachOther(app)
  })
})

async function raceEachOther(app: AdminApp): Promise<void> {
  const { admin: one } = await app.otherOrganization()
  const first = await firstKey(one)
  const two = await owner(one, app.url)
  const answers = await Promise.all([revoke(one, two.id), revoke(two, first)])
  const outcomes = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.equal(outcomes[0], 200)
  assert.ok(outcomes[1] === 409 || outcomes[1] === 401, `the other is answered ${outcomes[1]}`)
  const left = await Promise.all([one, two].map((each) => each.send('GET', '/admin_api_keys')))
  assert.deepEqual(
    left.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 401],
  )
}
