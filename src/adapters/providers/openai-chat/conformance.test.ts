import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createChatCheck } from './conformance.ts'

it('is not the form that clients need where each piece has an end, though an empty one', () => {
  const isGood = (finish: string | null): boolean =>
    createChatCheck().event({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: finish }] })
  assert.deepEqual([isGood(null), isGood('stop'), isGood('')], [true, true, false])
})
