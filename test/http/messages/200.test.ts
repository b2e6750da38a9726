import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CountTokensBody, MessagesBody } from '../../../src/http/messages/schema.ts'
import { startTestApp } from '../../support/app.ts'
import { describeSuccess } from '../../support/inference-success.ts'

describeSuccess('messages', {
  whole: {
    type: 'message',
    role: 'assistant',
    model: 'gatehouse-echo',
    content: [{ type: 'text', text: '[gatehouse-echo] You said: Hello' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 11 },
    remaining_credits: 10_000,
    estimated_credits_used: 0,
    estimated_cost_usd: 0,
  },
  events: [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ],
  failure: [
    {
      type: 'error',
      error: {
        type: 'api_error',
        message: 'The connection to the model’s upstream failed.',
        details: { error_code: 'upstream_error' },
      },
    },
  ],
})

describe('POST /v1/messages with null for every optional field', () => {
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    it(`answers as without them: ${path}`, async () => {
      await using app = await startTestApp()
      const body = { model: 'gatehouse-echo', messages: [{ role: 'user', content: 'Hello' }] }
      const names = Object.keys(path === '/v1/messages' ? MessagesBody.properties : CountTokensBody.properties)
      const nulls = names.filter((name) => !(name in body)).map((name) => [name, null])
      const answer = await app.post(path, { ...Object.fromEntries(nulls), thread: null, ...body })
      assert.equal(answer.status, 200, await answer.text())
    })
  }
})
