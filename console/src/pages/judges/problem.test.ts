import assert from 'node:assert/strict'
import { it } from 'node:test'
import { problemOf } from './problem.ts'

const failures = (found: number) => ({ found, of: 66 })

it('a calibration without answers is told from one without labels, and from a judge that contradicts itself', () => {
  assert.equal(problemOf({ labels: 0, consistent: false, failures: failures(66) }), 'failed')
  assert.equal(problemOf({ labels: 0, consistent: false, failures: failures(0) }), 'noLabels')
  assert.equal(problemOf({ labels: 3, consistent: false, failures: failures(0) }), 'inconsistent')
  assert.equal(problemOf({ labels: 3, consistent: true, failures: failures(1) }), undefined)
})
