import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTagValues } from './tag-values.ts'

const dayMs = 86_400_000

it('replaces further values of a name by "other" until the next day', () => {
  let nowMs = 5 * dayMs
  const limit = createTagValues({ nowMs: () => nowMs })
  for (let at = 0; at < 10_000; at++) assert.deepEqual(limit('org_1', { team: `t${at}` }), { team: `t${at}` })
  assert.deepEqual(limit('org_1', { env: 'prod', team: 'late' }), { env: 'prod', team: 'other' })
  assert.deepEqual(limit('org_1', { team: 't0' }), { team: 't0' })
  assert.deepEqual(limit('org_2', { team: 'late' }), { team: 'late' })
  nowMs += dayMs
  assert.deepEqual(limit('org_1', { team: 'late' }), { team: 'late' })
})
