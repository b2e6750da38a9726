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

/** The helper cannot tell no text from an empty one, and adds what it has parsed. */
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

describe('what the official OpenAI client reads from our chat stream', () => {
  for (const [says, events] of [
    ['a text', textAnswer('Hel', 'lo')],
    ['parallel tool calls', parallelCalls],
  ] as const) {
    it(`is our whole answer: ${says}`, async () => {
      const { completion, usage } = await readBySdk(streamed(events))
      assert.deepEqual(comparable(completion), comparable(whole(events)))
      assert.equal(usage.prompt_tokens, 16)
      assert.equal(usage.completion_tokens, 7)
    })
  }

  it('is our whole answer, whatever the answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        // The helper throws a length error of its own where an answer was cut.
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

  it('is an error where the answer failed, before the start and in the middle of a block', async () => {
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
