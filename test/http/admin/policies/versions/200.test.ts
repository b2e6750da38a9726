import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('listing the versions of a policy', () => {
  const { admin, policy } = adminSuite()

  it('returns an empty page before the first publication', async () => {
    const { data, first_id: firstId } = await admin().get(`/policies/${textOf(await policy())}/versions`)
    assert.deepEqual([data, firstId], [[], null])
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
