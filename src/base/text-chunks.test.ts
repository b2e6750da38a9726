import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { toChunks } from './text-chunks.ts'

describe('chunks of a text', () => {
  test('are together the text, and each can be encoded alone', () => {
    for (const offset of [0, 1, 2]) {
      const text = 'a'.repeat(offset) + '😀'.repeat(60_000)
      const chunks = toChunks(text)
      assert.ok(chunks.length > 2)
      assert.ok(chunks.every((chunk) => chunk.isWellFormed() && chunk.length <= 32_769))
      assert.equal(chunks.join(''), text)
    }
  })

  test('are none for an empty text', () => {
    assert.deepEqual(toChunks(''), [])
  })
})
