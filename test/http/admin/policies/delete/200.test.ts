import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf } from '../../../../support/administration.ts'
import { adminSuite, type PolicyStep } from '../../../../support/admin-suite.ts'

const states: [state: string, steps: PolicyStep[]][] = [
  ['draft', []],
  ['monitoring', [['publish']]],
  ['enforcing', [['update', { mode: 'enforcing' }], ['publish']]],
  ['paused', [['publish'], ['pause']]],
]

describe('deleting a policy', () => {
  const { admin, send, policy } = adminSuite()

  for (const [state, steps] of states) {
    it(`works in the state ${state}, once`, async () => {
      const before = await policy({}, ...steps)
      assert.equal(before['state'], state)
      const path = `/policies/${textOf(before)}`
      const { status, body } = await send('DELETE', `${path}?revision=${String(before['revision'])}`)
      assert.equal(status, 200)
      assert.deepEqual(body, { id: before['id'], object: 'organization.policy.deleted', deleted: true })
      for (const [method, rest] of [
        ['DELETE', `?revision=${String(before['revision'])}`],
        ['GET', ''],
        ['GET', '/versions'],
      ] as const) {
        assert.equal((await send(method, path + rest)).status, 404)
      }
      const listed = itemsOf(await admin().get('/policies?limit=100'))
      assert.equal(
        listed.some(({ id }) => id === before['id']),
        false,
      )
    })
  }

  it('needs the current revision, in the query', async () => {
    const path = `/policies/${textOf(await policy({}, ['publish']))}`
    for (const [query, status, param] of [
      ['', 422, 'revision'],
      ['?revision=0', 422, 'revision'],
      ['?revision=2147483648', 422, 'revision'],
      ['?revision=two', 422, 'revision'],
      ['?revision=1', 409, 'revision'],
      ['?revision=3', 409, 'revision'],
    ] as const) {
      const answer = await send('DELETE', path + query)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [status, param], query)
    }
    assert.equal((await send('GET', path)).status, 200)
  })

  it('leaves its versions readable in the audit log', async () => {
    const before = await policy({ rule: 'Never say "x"' }, ['publish'])
    await send('DELETE', `/policies/${textOf(before)}?revision=2`)
    const entries = itemsOf(await admin().get(`/audit_logs?policy_id=${textOf(before)}`))
    assert.deepEqual(
      entries.map(({ kind, old_revision: from, new_revision: to }) => [kind, from, to]),
      [
        ['policy.deleted', 2, null],
        ['policy.published', 1, 2],
        ['policy.created', null, 1],
      ],
    )
    assert.partialDeepStrictEqual(entries[1]?.['details'], { version: { version: 1, rule: 'Never say "x"' } })
  })
})
