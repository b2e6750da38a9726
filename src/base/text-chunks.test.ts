import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inTurns, toChunks } from './text-chunks.ts'

describe('chunks of a text', () => {
  test('are together the text, and each can be encoded alone', () => {
    for (const offset of [0, 1, 2]) {
      const text = 'a'.repeat(offset) + '😀'.repeat(100_000)
      const chunks = toChunks(text)
      assert.ok(chunks.length > 2)
      assert.ok(chunks.every((chunk) => chunk.isWellFormed() && chunk.length <= 65_537))
      assert.equal(chunks.join(''), text)
    }
  })

  test('are sent in several turns of the event loop', async () => {
    const order: string[] = []
    const turns = setInterval(() => order.push('turn'), 0)
    for await (const chunk of inTurns(Array.from({ length: 2_000 }, () => 'chunk'))) order.push(chunk)
    clearInterval(turns)
    assert.ok(order.includes('turn') && order.indexOf('turn') < order.lastIndexOf('chunk'))
  })

  test('are none for an empty text', () => {
    assert.deepEqual(toChunks(''), [])
  })
})
