import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('updating a policy', () => {
  const { send, policy } = adminSuite()

  it('rejects a stale revision, and names the current one', async () => {
    const path = `/policies/${textOf(await policy({}, ['publish'], ['pause']))}`
    for (const revision of [1, 2, 4, 2_147_483_647]) {
      const answer = await send('PATCH', path, { revision, name: 'Late' })
      assert.equal(answer.status, 409)
      assert.equal(errorOf(answer)['code'], 'revision_conflict')
      assert.equal(errorOf(answer)['type'], 'conflict_error')
      assert.equal(errorOf(answer)['param'], 'revision')
      assert.match(String(errorOf(answer)['message']), /at revision 3/)
    }
  })

  it('rejects a stale revision even if nothing would change', async () => {
    const path = `/policies/${textOf(await policy({}, ['publish']))}`
    assert.equal((await send('PATCH', path, { revision: 1 })).status, 409)
  })

  it('rejects the publication of a draft that was changed since', async () => {
    const path = `/policies/${textOf(await policy({}, ['update', { name: 'Newer' }]))}`
    assert.equal((await send('POST', `${path}/publish`, { revision: 1 })).status, 409)
  })
})
