import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, startAdminApp, textOf, type Admin, type Json } from '../../../support/administration.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** Starts a verification, and reads it until it has ended. */
async function verified(admin: Admin, range: Json = {}): Promise<Json> {
  const id = textOf(await admin.post('/audit_logs/verify', range))
  for (;;) {
    const verification = await admin.get(`/audit_logs/verify/${id}`)
    if (verification['state'] !== 'running') return verification
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe('a verification of the audit log', () => {
  it('finds nothing wrong in a log that nobody changed', async () => {
    await using app = await startAdminApp()
    const { admin } = app
    await admin.post('/projects', { name: 'Traced' })
    const verification = await verified(admin)
    assert.deepEqual(
      [verification['state'], verification['is_whole'], verification['first_bad']],
      ['completed', true, null],
    )
    assert.ok(Number(verification['checked']) >= 2)
    assert.equal(verification['checked'], verification['total'])
    const [listed] = itemsOf(await admin.get('/audit_logs/verify'))
    assert.deepEqual(listed, verification)
  })

  it('is an event of the log itself', async () => {
    await using app = await startAdminApp()
    const { id } = await verified(app.admin, { from: 1 })
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=audit_verification.created'))
    assert.deepEqual([event?.['resource_id'], event?.['details']], [id, { from: 1 }])
  })

  it('names the first event that somebody changed in the database', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    let key = ''
    {
      await using app = await startAdminApp({ storage })
      key = app.adminKey
      for (const name of ['One', 'Two', 'Three']) await app.admin.post('/projects', { name })
    }
    using database = new DatabaseSync(join(folder.path, 'gatehouse.db'))
    const forged = `update audit_event set body = replace(body, 'project.created', 'project.deleted')
      where sequence = (select min(sequence) from audit_event where code = 'admin.project.created') returning sequence`
    const row = database.prepare(forged).get()
    database.close()
    await using again = await startAdminApp({ storage, isFirst: false })
    const { adminOf } = await import('../../../support/administration.ts')
    const admin = adminOf(again.url, key)
    const verification = await verified(admin)
    assert.deepEqual(
      [verification['state'], verification['is_whole'], verification['first_bad']],
      ['completed', false, { part: 'event', sequence: row?.['sequence'], reason: 'altered' }],
    )
    const after = await verified(admin, { from: Number(row?.['sequence']) + 1 })
    assert.equal(after['first_bad'], null)
  })

  it('checks only the range that is asked for', async () => {
    await using app = await startAdminApp()
    const { admin } = app
    for (const name of ['One', 'Two', 'Three']) await admin.post('/projects', { name })
    const { checked, total, from, to } = await verified(admin, { from: 2, to: 3 })
    assert.deepEqual({ checked, total, from, to }, { checked: 2, total: 2, from: 2, to: 3 })
  })

  it('rejects a range without events, and names the field', async () => {
    await using app = await startAdminApp()
    for (const body of [{ from: 3, to: 2 }, { from: 1_000_000 }, { from: 0 }]) {
      const answer = await app.admin.send('POST', '/audit_logs/verify', { body })
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'from'], JSON.stringify(body))
    }
  })
})
