import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('publishing a policy', () => {
  const { admin, send, policy } = adminSuite()

  it('creates version 1 and puts it in force', async () => {
    const draft = await policy({ mode: 'enforcing' })
    const { status, headers, body } = await send('POST', `/policies/${textOf(draft)}/publish`, { revision: 1 })
    assert.equal(status, 200)
    assert.equal(headers.get('x-gatehouse-warning'), null)
    assert.partialDeepStrictEqual(body, {
      state: 'enforcing',
      revision: 2,
      current_version: 1,
      has_unpublished_changes: false,
      draft: { base_version: 1 },
      published: {
        object: 'organization.policy.version',
        version: 1,
        rule: 'Say "no"',
        direction: 'both',
        mode: 'enforcing',
        scope: 'organization',
        project_ids: [],
        match_threshold_basis_points: null,
        judge_window: 'block',
        current: true,
      },
    })
    assert.deepEqual(await admin().get(`/policies/${textOf(draft)}`), body)
  })

  it('leaves a paused policy paused', async () => {
    const { state, current_version: version } = await policy(
      {},
      ['publish'],
      ['pause'],
      ['update', { rule: 'b' }],
      ['publish'],
    )
    assert.deepEqual([state, version], ['paused', 2])
  })

  for (const [rule, warning] of [
    ['Be kind.', 'rule_not_evaluable'],
    ['Never mention "Falcon".', null],
    ['cel:true', null],
    ['No hate speech.', null],
    ['No email addresses.', null],
  ] as const) {
    it(`${warning === null ? 'gives no warning' : 'warns'} about the rule ${rule}`, async () => {
      const draft = await policy({ rule })
      const answer = await send('POST', `/policies/${textOf(draft)}/publish`, { revision: 1 })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('x-gatehouse-warning'), warning)
    })
  }
})
