import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createLearnedFactors } from './learned-factor.ts'

it('keeps a bounded number of model names', () => {
  const factors = createLearnedFactors()
  factors.of('first')
  for (let at = 0; at < 10_000; at++) factors.of(`claude-${at}`)
  assert.equal(factors.wantsSample('first', 0), false)
  assert.equal(factors.wantsSample('claude-9999', 0), true)
})
