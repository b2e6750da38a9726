import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemRandom } from './random.ts'

it('never returns the same bytes twice, and never changes bytes that it has returned', () => {
  const portions = Array.from({ length: 2000 }, () => systemRandom.bytes(16))
  const texts = portions.map((bytes) => Buffer.from(bytes).toString('hex'))
  assert.equal(new Set(texts).size, portions.length)
  assert.ok(!texts.includes('0'.repeat(32)))
  systemRandom.bytes(16)
  assert.deepEqual(
    portions.map((bytes) => Buffer.from(bytes).toString('hex')),
    texts,
  )
})
