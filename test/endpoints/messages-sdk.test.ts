import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { Fault } from '../../src/base/fault.ts'
import type { InferenceEvent } from '../../src/domain/inference/events.ts'
import { encodeMessages } from '../../src/http/messages/encode.ts'
import { createMessagesWriter } from '../../src/http/messages/stream-writer.ts'
import {
  anyEvents,
  close,
  contextIn,
  delta,
  end,
  open,
  parallelCalls,
  prove,
  start,
  textAnswer,
} from '../support/answers.ts'
import { serveText } from '../support/sse-server.ts'

const request = { model: 'default-model', max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hello' }] }

async function readBySdk(text: string) {
  await using server = await serveText(text)
  const client = new Anthropic({ baseURL: server.url, apiKey: 'k', maxRetries: 0 })
  return await client.messages.stream(request).finalMessage()
}

const streamed = (events: readonly InferenceEvent[]): string =>
  createMessagesWriter(contextIn('messages')).write(events)
const whole = (events: readonly InferenceEvent[]) => encodeMessages(contextIn('messages'), { events })

/** The SDK's helper adds its own fields, and keeps only some of the gateway's extra ones. */
const comparable = ({ content, stop_reason, stop_sequence, id, model, role, type }: Record<string, unknown>) =>
  JSON.parse(JSON.stringify({ content, stop_reason, stop_sequence, id, model, role, type }))

describe('the answer that the official Anthropic client reads from the stream', () => {
  const answers: readonly [title: string, events: readonly InferenceEvent[]][] = [
    ['a text', textAnswer('Hel', 'lo')],
    ['parallel tool calls', parallelCalls],
    [
      'signed thinking',
      [
        start,
        open(0, { type: 'thinking' }),
        delta(0, 'Hm.'),
        prove(0, { format: 'messages', value: 'sig' }),
        close(0),
        end(),
      ],
    ],
  ]
  for (const [title, events] of answers) {
    it(`equals the answer without streaming: ${title}`, async () => {
      const message = await readBySdk(streamed(events))
      assert.deepEqual(comparable({ ...message }), comparable(whole(events)))
      assert.equal(message.usage.input_tokens, 10)
      assert.equal(message.usage.output_tokens, 7)
      assert.equal(message.usage.cache_read_input_tokens, 4)
    })
  }

  it('equals the answer without streaming, for any answer', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents('messages'), async (events) => {
        const message = await readBySdk(streamed(events))
        assert.deepEqual(comparable({ ...message }), comparable(whole(events)))
      }),
      { numRuns: 60 },
    )
  })

  it('is an error if the upstream fails, before the start or in the middle of a block', async () => {
    for (const events of [[], [start], textAnswer('Hel').slice(0, 3)]) {
      const writer = createMessagesWriter(contextIn('messages'))
      const text =
        writer.write(events) + writer.fail(new Fault('upstream_overloaded', 'upstream_overloaded', 'Too busy.'))
      await assert.rejects(readBySdk(text), /overloaded_error.*Too busy/s)
    }
  })
})
