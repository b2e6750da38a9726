import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attentionLink, keyLink, urgentCount, type AttentionItem } from './attention.ts'

const item = (changed: Partial<AttentionItem>): AttentionItem =>
  ({ kind: 'policy_paused', severity: 'warning', object_id: null, ...changed }) as AttentionItem

describe('what needs attention', () => {
  it('is urgent unless it is only information', () =>
    assert.equal(
      urgentCount([item({ severity: 'info' }), item({ severity: 'warning' }), item({ severity: 'error' })]),
      2,
    ))
  it('leads to the object that it is about', () => {
    assert.deepEqual(attentionLink(item({ kind: 'rule_not_judged', object_id: 'pol_1' })), {
      to: '/policies/$policyId',
      params: { policyId: 'pol_1' },
    })
    assert.deepEqual(attentionLink(item({ kind: 'upstream_resting' })), { to: '/models' })
  })
})

describe('the link of a key', () => {
  it('opens the dialog of a project key', () =>
    assert.deepEqual(keyLink('key_1'), { to: '/projects', search: { dialog: 'edit', id: 'key_1' } }))
  it('opens an administrator key on its own tab', () =>
    assert.deepEqual(keyLink('adk_1'), {
      to: '/projects',
      search: { dialog: 'edit', id: 'adk_1', tab: 'administrators' },
    }))
})
