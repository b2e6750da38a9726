import assert from 'node:assert/strict'
import { it } from 'node:test'
import { limitsOf } from './gate-settings.ts'

it('the numbers of a condition are said in words, if it is on', () => {
  const replay = {
    newly_blocked_bp: 50,
    newly_allowed_bp: null,
    not_evaluated_bp: null,
    days: 7,
    min_events: 1_000,
    max_events: 2_000,
  }
  assert.deepEqual(limitsOf({ level: 'warn', ...replay }), [
    'at most 0.50% newly denied',
    'within 7 days',
    'at least 1,000 requests',
    'the newest 2,000 of them',
  ])
  assert.deepEqual(limitsOf({ level: 'off', ...replay }), [])
  assert.deepEqual(limitsOf({ level: 'require' }), [])
  assert.deepEqual(limitsOf({ level: 'require', count: 1 }), ['1 other person'])
})
