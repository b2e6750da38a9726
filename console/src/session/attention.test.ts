import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attentionAction, attentionLink, keyLink, urgentCount, type AttentionItem } from './attention.ts'

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

describe('what a person can do', () => {
  it('is named by a verb and leads to its place', () => {
    assert.deepEqual(attentionAction(item({ kind: 'key_expiring', object_id: 'key_1' })), {
      name: 'Rotate',
      link: { to: '/projects', search: { dialog: 'rotate', id: 'key_1' } },
    })
    assert.deepEqual(attentionAction(item({ kind: 'key_near_limit', object_id: 'key_1' })), {
      name: 'Raise the limit',
      link: { to: '/limits', search: { view: 'limits', api_key_id: 'key_1' } },
    })
    assert.equal(attentionAction(item({ kind: 'policy_paused', object_id: 'pol_1' })).name, 'Resume or edit')
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
