import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { ask, jsonHeaders } from '../../../../test/support/provider-kit.ts'
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
