import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { ask, streamHeaders } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import { replayRecordings } from '../../../../test/support/replay.ts'

replayRecordings({
  kind: 'openai-responses',
  dialect: 'responses',
  folder: join(import.meta.dirname, 'fixtures'),
  errorFrame:
    'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}\n\n',
  nonconforming: ['whole-at-the-end'],
})

it('drops reasoning that arrives only after the text, because agents take the last item as the answer', async () => {
  const message = { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }
  const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'opaque' }
  const events = [
    { type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', delta: 'Hi' },
    { type: 'response.completed', response: { status: 'completed', output: [thought, message] } },
  ]
  const chunks = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  const answer = { headers: streamHeaders, chunks }
  const { folded } = await ask({ kind: 'openai-responses', answer, request: requestBy('messages') })
  assert.deepEqual(
    folded.blocks.map(({ type }) => type),
    ['text'],
  )
})
