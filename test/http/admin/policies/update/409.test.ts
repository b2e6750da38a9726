import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('updating a policy', () => {
  const { ask, policy } = adminSuite()

  it('rejects a revision that is not the current one, and names the one that is', async () => {
    const path = `/policies/${textOf(await policy({}, ['publish'], ['pause']))}`
    for (const revision of [1, 2, 4, 2_147_483_647]) {
      const answer = await ask('PATCH', path, { revision, name: 'Late' })
      assert.equal(answer.status, 409)
      assert.equal(errorOf(answer)['code'], 'revision_conflict')
      assert.equal(errorOf(answer)['type'], 'conflict_error')
      assert.equal(errorOf(answer)['param'], 'revision')
      assert.match(String(errorOf(answer)['message']), /at revision 3/)
    }
  })

  it('rejects a stale revision also where nothing would change', async () => {
    const path = `/policies/${textOf(await policy({}, ['publish']))}`
    assert.equal((await ask('PATCH', path, { revision: 1 })).status, 409)
  })

  it('rejects to publish what was changed since', async () => {
    const path = `/policies/${textOf(await policy({}, ['update', { name: 'Newer' }]))}`
    assert.equal((await ask('POST', `${path}/publish`, { revision: 1 })).status, 409)
  })
})
