import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, itemsOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('listing the versions of a policy', () => {
  const { admin, policy } = adminSuite()

  it('returns an empty page before the first publication', async () => {
    const { data, first_id: firstId } = await admin().get(`/policies/${textOf(await policy())}/versions`)
    assert.deepEqual([data, firstId], [[], null])
  })

  it('names who published each, and why', async () => {
    const { id, revision } = await policy()
    const published = await admin().post(`/policies/${String(id)}/publish`, { revision, reason: 'Approved by legal' })
    const again = { revision: Number(published['revision']), rule: 'Another rule' }
    const changed = (await admin().send('PATCH', `/policies/${String(id)}`, { body: again })).body
    await admin().post(`/policies/${String(id)}/publish`, { revision: changed['revision'] })
    const [author] = itemsOf(await admin().get('/admin_api_keys?order=asc'))
    const versions = itemsOf(await admin().get(`/policies/${String(id)}/versions`))
    assert.deepEqual(
      versions.map(({ published_by: by, reason }) => [by, reason]),
      [
        [author?.['id'], null],
        [author?.['id'], 'Approved by legal'],
      ],
    )
    const recorded = itemsOf(await admin().get(`/audit_logs?kind=policy.published&policy_id=${String(id)}`))
    assert.deepEqual(
      recorded.map(({ details }) => (details as Record<string, unknown>)['reason']),
      [undefined, 'Approved by legal'],
    )
    const empty = await admin().send('POST', `/policies/${String(id)}/publish`, { body: { revision: 9, reason: '' } })
    assert.deepEqual([empty.status, errorOf(empty)['param']], [422, 'reason'])
  })

  it('pages through them, newest first', async () => {
    const body = await policy(
      {},
      ['publish'],
      ['update', { rule: 'b' }],
      ['publish'],
      ['update', { rule: 'c' }],
      ['publish'],
    )
    const path = `/policies/${textOf(body)}/versions`
    const first = await admin().get(`${path}?limit=2`)
    assert.deepEqual(
      itemsOf(first).map(({ version, current }) => [version, current]),
      [
        [3, true],
        [2, false],
      ],
    )
    assert.equal(first['has_more'], true)
    const rest = await admin().get(`${path}?limit=2&after=${String(first['last_id'])}`)
    assert.deepEqual(
      itemsOf(rest).map(({ version, rule }) => [version, rule]),
      [[1, 'Say "no"']],
    )
  })
})
