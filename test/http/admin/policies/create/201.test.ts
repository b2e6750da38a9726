import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textOf } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

describe('creating a policy', () => {
  const { app, send, admin } = adminSuite()

  it('fills in the defaults and starts as a draft', async () => {
    const { status, body } = await send('POST', '/policies', { name: 'One', rule: 'Say "no"' })
    assert.equal(status, 201)
    const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = body
    assert.match(String(id), /^pol_/)
    assert.equal(createdAt, updatedAt)
    assert.ok(Math.abs(Number(createdAt) - Date.now() / 1000) < 600, 'Unix seconds')
    assert.deepEqual(rest, {
      object: 'organization.policy',
      name: 'One',
      description: '',
      state: 'draft',
      revision: 1,
      current_version: null,
      has_unpublished_changes: true,
      rollout_percent: 100,
      draft: {
        rule: 'Say "no"',
        direction: 'both',
        mode: 'monitoring',
        scope: 'organization',
        project_ids: [],
        match_threshold_basis_points: null,
        judge_window: 'block',
        judge_when: '',
        pause_on_spike: false,
        base_version: null,
      },
      published: null,
    })
    assert.deepEqual(await admin().get(`/policies/${textOf(body)}`), body)
  })

  it('accepts every field, and null for those with a default', async () => {
    const draft = {
      rule: 'cel:text.contains("x")',
      direction: 'request',
      mode: 'enforcing',
      scope: 'projects',
      project_ids: [app().projectId],
      match_threshold_basis_points: 9999,
      judge_window: 'paragraph',
      judge_when: 'text.size() > 20',
      pause_on_spike: true,
    }
    const full = await send('POST', '/policies', { name: 'Full', description: 'Why', ...draft })
    assert.deepEqual(full.body['draft'], { ...draft, base_version: null })
    assert.equal(full.body['description'], 'Why')
    const empty = { description: null, direction: null, mode: null, scope: null, project_ids: null, judge_window: null }
    const nulls = await send('POST', '/policies', {
      name: 'N',
      rule: 'r',
      ...empty,
      match_threshold_basis_points: null,
    })
    assert.equal(nulls.status, 201)
  })

  it('counts characters, not bytes: 80 for a name, 20000 for a rule', async () => {
    const answer = await send('POST', '/policies', { name: '😀'.repeat(80), rule: '😀'.repeat(20_000) })
    assert.equal(answer.status, 201)
    assert.equal(answer.body['name'], '😀'.repeat(80))
  })
})
