import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, textOf, type Json } from '../../../../support/administration.ts'
import { adminSuite, type PolicyStep } from '../../../../support/admin-suite.ts'

type Scenario = { title: string; fields?: Json; steps?: PolicyStep[]; operation: string; body?: Json; code: string }

const scenarios: Scenario[] = [
  { title: 'publishing twice', steps: [['publish']], operation: 'publish', code: 'no_unpublished_changes' },
  { title: 'publishing for no project', fields: { scope: 'projects' }, operation: 'publish', code: 'no_projects' },
  { title: 'pausing a draft', operation: 'pause', code: 'invalid_state' },
  { title: 'pausing twice', steps: [['publish'], ['pause']], operation: 'pause', code: 'invalid_state' },
  { title: 'resuming a draft', operation: 'resume', code: 'invalid_state' },
  { title: 'resuming what is in force', steps: [['publish']], operation: 'resume', code: 'invalid_state' },
  {
    title: 'rolling back to the current version',
    steps: [['publish']],
    operation: 'rollback',
    body: { version: 1 },
    code: 'invalid_state',
  },
]

describe('an operation that does not fit the state of its policy', () => {
  const { admin, send, policy } = adminSuite()

  for (const { title, fields = {}, steps = [], operation, body = {}, code } of scenarios) {
    it(`is rejected: ${title}`, async () => {
      const before = await policy(fields, ...steps)
      const path = `/policies/${textOf(before)}`
      const answer = await send('POST', `${path}/${operation}`, { revision: before['revision'], ...body })
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, code])
      assert.deepEqual(await admin().get(path), before)
    })
  }

  for (const operation of ['publish', 'pause', 'resume', 'rollback']) {
    it(`is rejected for its revision first: ${operation}`, async () => {
      const before = await policy()
      const body = { revision: 7, ...(operation === 'rollback' && { version: 1 }) }
      const answer = await send('POST', `/policies/${textOf(before)}/${operation}`, body)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [409, 'revision_conflict'])
    })
  }
})
