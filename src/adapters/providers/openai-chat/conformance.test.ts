import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createChatCheck } from './conformance.ts'

it('rejects chunks with an empty finish reason', () => {
  const isGood = (finish: string | null): boolean =>
    createChatCheck().event({ choices: [{ index: 0, delta: { role: 'assistant' }, finish_reason: finish }] })
  assert.deepEqual([isGood(null), isGood('stop'), isGood('')], [true, true, false])
})
