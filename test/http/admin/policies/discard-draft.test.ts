import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf } from '../../../support/administration.ts'

describe('discarding a draft', () => {
  const { admin, send, policy } = adminSuite()

  it('returns to the current version and keeps name and description', async () => {
    const changed = await policy({ rule: 'first' }, ['publish'], ['update', { rule: 'second', name: 'Renamed draft' }])
    const path = `/policies/${textOf(changed)}`
    const answer = await send('POST', `${path}/discard_draft`, { revision: 3 })
    const { draft, revision, has_unpublished_changes: hasChanges, name } = answer.body
    assert.deepEqual([answer.status, revision, hasChanges, name], [200, 4, false, 'Renamed draft'])
    assert.deepEqual([(draft as { rule: string }).rule, (draft as { base_version: number }).base_version], ['first', 1])
    const [event] = itemsOf(await admin().get(`/audit_logs?policy_id=${textOf(changed)}`))
    assert.equal(event?.['kind'], 'policy.draft.discarded')
    assert.match(String(event?.['message']), /discarded the policy draft pol_/)
  })

  it('is 409 if nothing was published, if there is nothing to discard, and at another revision', async () => {
    const draft = await policy()
    const published = await policy({}, ['publish'])
    const discard = (id: string, revision: number) => send('POST', `/policies/${id}/discard_draft`, { revision })
    for (const [answer, code] of [
      [await discard(textOf(draft), 1), 'invalid_state'],
      [await discard(textOf(published), 2), 'no_unpublished_changes'],
      [await discard(textOf(published), 1), 'revision_conflict'],
    ] as const)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, code])
    assert.equal((await discard('pol_none', 1)).status, 404)
  })

  it('happens once for one Idempotency-Key', async () => {
    const changed = await policy({}, ['publish'], ['update', { mode: 'enforcing' }])
    const discard = () =>
      admin().send('POST', `/policies/${textOf(changed)}/discard_draft`, {
        body: { revision: 3 },
        headers: { 'idempotency-key': 'discard-once' },
      })
    const [first, second] = [await discard(), await discard()]
    assert.deepEqual([first.status, second.status, second.body], [200, 200, first.body])
    assert.equal(second.headers.get('idempotent-replayed'), 'true')
  })
})
