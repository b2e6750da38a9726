import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('pausing and resuming a policy', () => {
  const { policy, send } = adminSuite()

  it('stops enforcement, and restores the mode', async () => {
    const paused = await policy({ mode: 'enforcing' }, ['publish'], ['pause'])
    assert.deepEqual([paused['state'], paused['revision'], paused['current_version']], ['paused', 3, 1])
    const resumed = await policy({ mode: 'enforcing' }, ['publish'], ['pause'], ['resume'])
    assert.deepEqual([resumed['state'], resumed['revision']], ['enforcing', 4])
  })

  it('warns that the rule cannot be evaluated', async () => {
    const paused = await policy({ rule: 'Be polite.' }, ['publish'], ['pause'])
    const body = { revision: paused['revision'] }
    const answer = await send('POST', `/policies/${String(paused['id'])}/resume`, body)
    assert.equal(answer.headers.get('x-gatehouse-warning'), 'rule_not_evaluable')
  })

  it('resumes with the version that was published meanwhile', async () => {
    const resumed = await policy({}, ['publish'], ['pause'], ['update', { mode: 'enforcing' }], ['publish'], ['resume'])
    assert.deepEqual([resumed['state'], resumed['current_version']], ['enforcing', 2])
  })
})
