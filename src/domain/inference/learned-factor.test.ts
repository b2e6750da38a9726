import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLearnedFactors } from './learned-factor.ts'

it('does not remember every name that anybody ever counted for', () => {
  const factors = createLearnedFactors()
  factors.of('first')
  for (let at = 0; at < 10_000; at++) factors.of(`claude-${at}`)
  assert.equal(factors.wantsSample('first', 0), false)
  assert.equal(factors.wantsSample('claude-9999', 0), true)
})
