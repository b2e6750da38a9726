import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, startAdminApp, textOf } from '../../../support/administration.ts'
import { createScratchDatabase, withoutPostgres } from '../../../support/postgres.ts'

describe('the name of a policy', () => {
  const { app, send, policy } = adminSuite()

  it('is used once, whatever its case and outer spaces', async () => {
    const first = await policy({ name: 'Größe' })
    for (const name of ['Größe', ' GRÖSSE ', 'größe']) {
      const answer = await send('POST', '/policies', { name, rule: 'r' })
      const { code, param, message } = errorOf(answer)
      assert.deepEqual([answer.status, code, param], [409, 'duplicate_name', 'name'])
      assert.match(String(message), new RegExp(`${textOf(first)} already has the name "Größe"`))
    }
    const other = await policy({ name: 'Other' })
    const renamed = await send('PATCH', `/policies/${textOf(other)}`, { revision: 1, name: 'GRÖSSE' })
    assert.deepEqual([renamed.status, errorOf(renamed)['code']], [409, 'duplicate_name'])
    const ownCase = await send('PATCH', `/policies/${textOf(first)}`, { revision: 1, name: 'GRÖSSE' })
    assert.deepEqual([ownCase.status, ownCase.body['name']], [200, 'GRÖSSE'])
  })

  it('is free again after the policy was deleted, and in another organization', async () => {
    const first = await policy({ name: 'Reused' })
    const { admin: foreign } = await app().otherOrganization()
    await foreign.post('/policies', { name: 'Reused', rule: 'r' })
    assert.equal((await send('DELETE', `/policies/${textOf(first)}?revision=1`)).status, 200)
    await policy({ name: 'Reused' })
  })

  it('must not consist of spaces', async () => {
    const made = await policy()
    for (const answer of [
      await send('POST', '/policies', { name: ' \t ', rule: 'r' }),
      await send('PATCH', `/policies/${textOf(made)}`, { revision: 1, name: '\u3000' }),
    ])
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'name'])
  })

  it('is given to one of several policies that are created at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => send('POST', '/policies', { name: `Race${' '.repeat(at)}`, rule: 'r' })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409, 409],
    )
  })

  it('is given to one of several on PostgreSQL', { skip: withoutPostgres }, async () => {
    await using scratch = await createScratchDatabase()
    await using node = await startAdminApp({
      storage: { database_url: scratch.url },
      config: { secret: 'a secret for tests' },
    })
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => node.admin.send('POST', '/policies', { body: { name: 'Race', rule: 'r' } })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409, 409],
    )
  })
})
