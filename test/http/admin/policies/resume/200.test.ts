import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('pausing and resuming a policy', () => {
  const { policy } = adminSuite()

  it('stops enforcement, and restores the mode', async () => {
    const paused = await policy({ mode: 'enforcing' }, ['publish'], ['pause'])
    assert.deepEqual([paused['state'], paused['revision'], paused['current_version']], ['paused', 3, 1])
    const resumed = await policy({ mode: 'enforcing' }, ['publish'], ['pause'], ['resume'])
    assert.deepEqual([resumed['state'], resumed['revision']], ['enforcing', 4])
  })

  it('resumes with the version that was published meanwhile', async () => {
    const resumed = await policy({}, ['publish'], ['pause'], ['update', { mode: 'enforcing' }], ['publish'], ['resume'])
    assert.deepEqual([resumed['state'], resumed['current_version']], ['enforcing', 2])
  })
})
