import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

const wrong: [body: object, param: string][] = [
  [{ name: 'n' }, 'revision'],
  [{ revision: 0 }, 'revision'],
  [{ revision: 2_147_483_648 }, 'revision'],
  [{ revision: '1' }, 'revision'],
  [{ revision: null }, 'revision'],
  [{ revision: 1, name: '' }, 'name'],
  [{ revision: 1, rule: 'cel:1 + "a"' }, 'rule'],
  [{ revision: 1, project_ids: ['proj_nobody'] }, 'project_ids[0]'],
  [{ revision: 1, state: 'paused' }, 'state'],
]

describe('updating a policy', () => {
  const { admin, send, policy } = adminSuite()

  for (const [body, param] of wrong) {
    it(`names ${param} in ${JSON.stringify(body)}, and changes nothing`, async () => {
      const before = await policy()
      const answer = await send('PATCH', `/policies/${textOf(before)}`, body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      assert.deepEqual(await admin().get(`/policies/${textOf(before)}`), before)
    })
  }
})
