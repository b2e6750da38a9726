import assert from 'node:assert/strict'
import { it } from 'node:test'
import { slotOf } from './hash-slot.ts'

it('the hash slot of a tag is that of Redis Cluster', () => {
  assert.deepEqual(['123456789', 'foo', 'user1000', ''].map(slotOf), [0x31c3, 12_182, 3_443, 0])
})
