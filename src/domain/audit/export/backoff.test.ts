import assert from 'node:assert/strict'
import test from 'node:test'
import type { Random } from '../../../base/random.ts'
import { backoffMs } from './backoff.ts'

const luck = (fraction: number): Random => ({ bytes: () => new Uint8Array(), fraction: () => fraction })
const latest = luck(0.999999)

test('the ceiling doubles from one second to five minutes and stays there', () => {
  const ceilings = [1, 2, 3, 8, 9, 10, 1_000_000].map((attempt) => backoffMs(attempt, latest))
  assert.deepEqual(ceilings, [999, 1_999, 3_999, 127_999, 255_999, 299_999, 299_999])
})

test('the whole range below the ceiling is used', () => {
  assert.equal(backoffMs(5, luck(0)), 0)
  assert.equal(backoffMs(5, luck(0.5)), 8_000)
})

test('a delay that the destination requested is never shortened by jitter', () => {
  assert.equal(backoffMs(1, luck(0), 30_000), 30_000)
  assert.equal(backoffMs(20, latest, 30_000), 30_999)
})

test('a destination that requests years is retried within the hour', () => {
  assert.equal(backoffMs(1, luck(0), 1e12), 3_600_000)
})
