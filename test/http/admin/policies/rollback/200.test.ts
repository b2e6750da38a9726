import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('rolling a policy back', () => {
  const { admin, send, policy } = adminSuite()

  it('publishes an earlier version again, as a new one', async () => {
    const body = await policy(
      { rule: 'first' },
      ['publish'],
      ['update', { rule: 'second', mode: 'enforcing' }],
      ['publish'],
    )
    const back = await send('POST', `/policies/${textOf(body)}/rollback`, { revision: 4, version: 1 })
    assert.equal(back.status, 200)
    assert.equal(back.headers.get('x-gatehouse-warning'), 'rule_not_evaluable')
    assert.partialDeepStrictEqual(back.body, {
      state: 'monitoring',
      revision: 5,
      current_version: 3,
      has_unpublished_changes: false,
      draft: { rule: 'first', base_version: 1 },
      published: { version: 3, rule: 'first', current: true },
    })
    const versions = itemsOf(await admin().get(`/policies/${textOf(body)}/versions`))
    assert.deepEqual(
      versions.map(({ version, rule, current }) => [version, rule, current]),
      [
        [3, 'first', true],
        [2, 'second', false],
        [1, 'first', false],
      ],
    )
  })

  it('is rejected for a version that was never published', async () => {
    const body = await policy({}, ['publish'])
    const answer = await send('POST', `/policies/${textOf(body)}/rollback`, { revision: 2, version: 9 })
    assert.deepEqual([answer.status, errorOf(answer)['param']], [404, 'version'])
  })
})
