import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createMessagesCheck } from './conformance.ts'

const usage = { input_tokens: 1, output_tokens: 0 }
const started = { type: 'message_start', message: { role: 'assistant', content: [], usage } }

it('rejects a block start with content', () => {
  const isGood = (content_block: object): boolean => {
    const form = createMessagesCheck()
    return form.event(started) && form.event({ type: 'content_block_start', index: 0, content_block })
  }
  const call = { type: 'tool_use', id: 'a', name: 'f' }
  assert.ok(isGood({ type: 'text', text: '' }) && isGood({ ...call, input: {} }))
  assert.ok(isGood({ type: 'web_search_tool_result', content: [1] }))
  for (const block of [
    { type: 'text', text: 'Hi' },
    { type: 'thinking', thinking: '', signature: 's' },
    { ...call, input: { a: 1 } },
  ])
    assert.equal(isGood(block), false)
})
