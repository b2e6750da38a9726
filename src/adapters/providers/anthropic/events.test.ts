import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { ask, jsonHeaders, streamHeaders } from '../../../../test/support/provider-kit.ts'
import { replayRecordings } from '../../../../test/support/replay.ts'
import { requestBy } from '../../../../test/support/requests.ts'

replayRecordings({
  kind: 'anthropic',
  dialect: 'messages',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  nonconforming: ['careless-imitator'],
})

it('decodes a cited search result if its source is a URL', async () => {
  const found = (source: string, title: string | null) => ({
    type: 'search_result_location',
    source,
    title,
    cited_text: 'so',
    search_result_index: 0,
    start_block_index: 0,
    end_block_index: 1,
  })
  const citations = [found('https://example.org/a', null), found('wiki page 7', 'Seven')]
  const message = {
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Yes.', citations }],
  }
  const answer = { headers: jsonHeaders, chunks: [Buffer.from(JSON.stringify(message))] }
  const { folded } = await ask({ kind: 'anthropic', request: requestBy('chat'), answer })
  const url = 'https://example.org/a'
  assert.deepEqual(folded.blocks, [{ type: 'text', text: 'Yes.', citations: [{ url, title: url, passage: 'so' }] }])
})

describe('a second message_start', () => {
  const start = (id: string) => ({
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  })
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } }
  const rest = [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  const answerOf = (events: readonly object[]) =>
    ask({
      kind: 'anthropic',
      request: requestBy('chat'),
      answer: {
        headers: streamHeaders,
        chunks: events.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)),
      },
    })

  it('is ignored before the content if it has the id of the first', async () => {
    const { folded } = await answerOf([start('msg_1'), start('msg_1'), block, delta, ...rest])
    assert.deepEqual(folded.blocks, [{ type: 'text', text: 'Hello' }])
  })

  it('is an error with another id, or after the content began', async () => {
    const failure = { code: 'upstream_error', message: /started a second message/ }
    await assert.rejects(answerOf([start('msg_1'), start('msg_2'), block, delta, ...rest]), failure)
    await assert.rejects(answerOf([start('msg_1'), block, delta, start('msg_1'), ...rest]), failure)
  })
})
