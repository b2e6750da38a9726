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

it('needs several samples, and takes their median', () => {
  const factors = createLearnedFactors()
  factors.learn('m', 1000, 3900)
  factors.learn('m', 1000, 1200)
  assert.equal(factors.of('m'), 1)
  factors.learn('m', 1000, 1210)
  assert.equal(factors.of('m'), 1.21)
})

it('keeps its factor after one odd sample, and follows a lasting change', () => {
  const factors = createLearnedFactors()
  for (let at = 0; at < 9; at++) factors.learn('m', 1000, 1200)
  factors.learn('m', 1000, 4_000_000)
  assert.equal(factors.of('m'), 1.2)
  for (let at = 0; at < 9; at++) factors.learn('m', 1000, 1500)
  assert.equal(factors.of('m'), 1.5)
})
