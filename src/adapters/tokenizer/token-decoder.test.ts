import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '../../base/clock.ts'
import { createTokenDecoder } from './token-decoder.ts'

describe('the decoder of token ids', () => {
  it('returns the texts of the lists, in their order', async () => {
    await using decoder = createTokenDecoder(systemClock)
    const [first, second] = await Promise.all([decoder.decode([[15339, 1917], [15339]]), decoder.decode([[1917]])])
    assert.deepEqual([first, second], [['hello world', 'hello'], [' world']])
  })

  it('reports a list with an unknown id, and decodes the others', async () => {
    await using decoder = createTokenDecoder(systemClock)
    assert.deepEqual(await decoder.decode([[15339, 2_000_000], [15339]]), [undefined, 'hello'])
  })

  it('keeps half a character out of the next text', async () => {
    await using decoder = createTokenDecoder(systemClock)
    const halves = await decoder.decode([[9468], [15339], [9468, 2_000_000], [9468, 99, 244]])
    assert.deepEqual(halves, ['\ufffd', 'hello', undefined, '\ud83e\udd96'])
  })
})
