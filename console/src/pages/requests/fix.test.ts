import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Backtest } from './fix-queries.ts'
import { effectOf, isSameChange, passingThreshold } from './fix.ts'

describe('a fix for a denied request', () => {
  it('offers the lowest threshold that lets it pass, if there is one', () => {
    assert.equal(passingThreshold(9_200), 9_201)
    assert.equal(passingThreshold(9_999), undefined)
    assert.equal(passingThreshold(10_000), undefined)
    assert.equal(passingThreshold(null), undefined)
  })

  it('counts what it lets through among what the policy denied', () => {
    const result = {
      newly_allowed: 4,
      newly_blocked: 1,
      coverage: { events: 300, sampled: 300, with_text: 280, redacted_only: 0, from_sample: 0 },
      scores: [
        { from_basis_points: 5_000, allowed: 0, blocked_by_policy: 240, other: 3 },
        { from_basis_points: 9_200, allowed: 1, blocked_by_policy: 4, other: 0 },
      ],
      example_requests: [
        {
          event_id: 'evt_1',
          request_id: 'req_1',
          project_id: null,
          change: 'newly_allowed',
          score_basis_points: 9_200,
        },
        { event_id: 'evt_2', request_id: null, project_id: null, change: 'newly_blocked', score_basis_points: 9_900 },
        { event_id: 'evt_3', request_id: 'req_3', project_id: null, change: 'changed_reason', score_basis_points: 1 },
      ],
    } as unknown as NonNullable<Backtest['result']>
    assert.deepEqual(effectOf(result), {
      replayed: 280,
      deniedByPolicy: 244,
      letThrough: 4,
      newlyDenied: 1,
      examples: [{ requestId: 'req_1', isLetThrough: true }],
    })
  })

  it('knows whether a replay is of the change on the screen', () => {
    assert.equal(isSameChange({ rule: 'a' }, { rule: 'a' }), true)
    assert.equal(isSameChange({ rule: 'a' }, { rule: 'b' }), false)
    assert.equal(isSameChange(undefined, { rule: 'b' }), false)
  })
})
