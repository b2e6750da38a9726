import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import { fieldSamples } from '../../../test/support/policy-fields.ts'
import { contentBody, initialContent } from '../../domain/policy/content.ts'
import { isIdle, planStep } from './policy-plan.ts'

const content = { ...contentBody(initialContent), rule: 'Say "no"', project_ids: ['proj_b', 'proj_a'] }

const target: PolicyBody = {
  id: '',
  object: 'organization.policy',
  name: 'One',
  description: '',
  state: 'draft',
  revision: 1,
  current_version: null,
  has_unpublished_changes: true,
  rollout_percent: 100,
  created_at: 0,
  updated_at: 0,
  draft: { ...content, base_version: null },
  published: null,
}

const version = {
  id: 'polv_1',
  object: 'organization.policy.version',
  version: 1,
  published_at: 0,
  published_by: null,
  reason: null,
  current: true,
} as const
const published = { ...version, ...content, project_ids: ['proj_a', 'proj_b'] }
const current: PolicyBody = {
  ...target,
  id: 'pol_1',
  revision: 7,
  published,
  draft: { ...published, base_version: 1 },
}

const wanted = { name: 'One', publish: true, policy: { name: 'One', rule: 'Say "no"' } }

describe('the plan for one policy', () => {
  it('creates and publishes a policy that does not exist', () => {
    const step = planStep(wanted, target, undefined)
    assert.deepEqual([step.action, step.publish, step.body], ['create', true, wanted.policy])
  })

  it('does nothing if nothing differs, whatever the order of the projects', () => {
    assert.equal(isIdle(planStep(wanted, target, current)), true)
  })

  it('changes only the fields that differ, at the revision that it has read', () => {
    const differing = { ...current, description: 'Old', draft: { ...current.draft, mode: 'enforcing' as const } }
    const step = planStep(wanted, target, differing)
    assert.deepEqual([step.action, step.revision, step.id], ['update', 7, 'pol_1'])
    assert.deepEqual(step.body, { description: '', mode: 'monitoring' })
    assert.equal(step.publish, false) // the published version equals the file already
  })

  for (const { name, values } of fieldSamples('proj_c'))
    it(`shows a change of ${name} alone`, () => {
      const [value] = values
      const [difference, ...others] = planStep(wanted, target, {
        ...current,
        draft: { ...current.draft, [name]: value },
      }).differences
      assert.deepEqual([difference?.field, difference?.before, others], [name, value, []])
    })

  it('publishes a draft that equals the file but is not published', () => {
    const step = planStep(wanted, target, { ...current, published: { ...published, rule: 'Older' } })
    assert.deepEqual([step.action, step.publish], ['keep', true])
    assert.equal(planStep({ ...wanted, publish: false }, target, { ...current, published: null }).publish, false)
  })
})
