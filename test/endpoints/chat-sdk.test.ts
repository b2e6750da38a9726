import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { Fault } from '../../src/base/fault.ts'
import type { InferenceEvent } from '../../src/domain/inference/events.ts'
import { encodeChat } from '../../src/http/chat/encode.ts'
import { createChatWriter } from '../../src/http/chat/stream-writer.ts'
import { anyEvents, contextIn, parallelCalls, start, textAnswer } from '../support/answers.ts'
import { serveText } from '../support/sse-server.ts'

const body = { stream_options: { include_usage: true } }

async function readBySdk(text: string) {
  await using server = await serveText(text)
  const client = new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 })
  const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...body })
  return { completion: await stream.finalChatCompletion(), usage: await stream.totalUsage() }
}

const streamed = (events: readonly InferenceEvent[]): string => createChatWriter(contextIn('chat', body)).write(events)
const whole = (events: readonly InferenceEvent[]) => encodeChat(contextIn('chat', body), { events })

/** The SDK's helper does not distinguish missing text from empty text, and adds the parsed content. */
function comparable(completion: unknown) {
  return JSON.parse(JSON.stringify(completion), (key, value: unknown) => {
    if (key === 'content' || key === 'refusal') return value === '' || value === null ? undefined : value
    if (key === 'parsed' || key === 'parsed_arguments' || key === 'logprobs' || key === 'reasoning_content')
      return undefined
    if (key === 'object' || key === 'usage' || key.startsWith('estimated_') || key === 'remaining_credits')
      return undefined
    return value
  })
}

describe('the answer that the official OpenAI client reads from the chat stream', () => {
  for (const [title, events] of [
    ['a text', textAnswer('Hel', 'lo')],
    ['parallel tool calls', parallelCalls],
  ] as const) {
    it(`equals the answer without streaming: ${title}`, async () => {
      const { completion, usage } = await readBySdk(streamed(events))
      assert.deepEqual(comparable(completion), comparable(whole(events)))
      assert.equal(usage.prompt_tokens, 16)
      assert.equal(usage.completion_tokens, 7)
    })
  }

  it('equals the answer without streaming, for any answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        // The helper throws its own length error if an answer was truncated.
        anyEvents('chat').filter(
          (events) => !['length', 'context-full', 'filtered', 'refusal'].includes(stopOf(events)),
        ),
        async (events) => {
          const { completion } = await readBySdk(streamed(events))
          assert.deepEqual(comparable(completion), comparable(whole(events)))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('is an error if the upstream fails, before the start or in the middle of a block', async () => {
    for (const events of [[], [start], textAnswer('Hel').slice(0, 3)]) {
      const writer = createChatWriter(contextIn('chat'))
      const text =
        writer.write(events) + writer.fail(new Fault('upstream_overloaded', 'upstream_overloaded', 'Too busy.'))
      await assert.rejects(readBySdk(text), /Too busy/)
    }
  })
})

function stopOf(events: readonly InferenceEvent[]): string {
  const last = events.at(-1)
  return last?.type === 'end' ? last.stopReason : ''
}
