import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AlertRule } from './queries.ts'
import { bodyOfDraft, draftOfKind, draftOfRule, isComplete } from './rule-draft.ts'

describe('the form of an alert rule', () => {
  it('begins with the defaults of its kind', () => {
    const draft = draftOfKind('denials', 'Many denials', ['chan_1'])
    assert.ok(isComplete(draft))
    assert.deepEqual(bodyOfDraft(draft), {
      kind: 'denials',
      name: 'Many denials',
      threshold: 20,
      unit: 'percent',
      window: '15m',
      for_minutes: 1,
      filter: null,
      channel_ids: ['chan_1'],
    })
  })

  it('sends no threshold for a kind without one', () => {
    const body = bodyOfDraft(draftOfKind('sink_failing', 'Sinks', []))
    assert.deepEqual(body, { kind: 'sink_failing', name: 'Sinks', for_minutes: 5, filter: null, channel_ids: [] })
  })

  it('is not complete without a name or with a threshold that is no number', () => {
    const draft = draftOfKind('spend', 'Spending', [])
    assert.ok(!isComplete({ ...draft, name: ' ' }))
    assert.ok(!isComplete({ ...draft, threshold: 'many' }))
    assert.ok(!isComplete({ ...draft, threshold: '' }))
    assert.ok(isComplete({ ...draft, threshold: '0,5' }))
  })

  it('keeps the filter of a stored rule', () => {
    const rule: AlertRule = {
      id: 'rule_1',
      object: 'organization.alert_rule',
      kind: 'errors',
      name: 'E',
      threshold: 5,
      unit: 'percent',
      window: '1h',
      min_requests: 20,
      for_minutes: 2,
      filter: { project_id: 'proj_1' },
      channel_ids: [],
      paused: false,
      state: 'ok',
      firing: [],
      created_at: 1,
      updated_at: 1,
    }
    assert.partialDeepStrictEqual(bodyOfDraft(draftOfRule(rule)), {
      filter: { project_id: 'proj_1' },
      window: '1h',
      for_minutes: 2,
    })
  })
})
