import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { createCpuShare } from './cpu-share.ts'

test('the encoder may use its share on average, and urgent texts may use what others leave', () => {
  const { clock, advance } = createHandClock()
  const share = createCpuShare(clock, 25)
  share.use(999)
  assert.equal(share.hasLeft(false), true)
  share.use(2)
  assert.deepEqual([share.hasLeft(false), share.hasLeft(true)], [false, true])
  share.use(999)
  assert.equal(share.hasLeft(true), false)
  advance(100)
  assert.deepEqual([share.hasLeft(false), share.hasLeft(true)], [false, true])
  advance(4_000)
  assert.equal(share.hasLeft(false), true)
})

test('what is not used is saved up for a few seconds only', () => {
  const { clock, advance } = createHandClock()
  const share = createCpuShare(clock, 100)
  advance(3_600_000)
  share.use(7_999)
  assert.equal(share.hasLeft(true), true)
  share.use(1)
  assert.equal(share.hasLeft(true), false)
})
