import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import OpenAI from 'openai'
import { Fault } from '../../src/base/fault.ts'
import type { InferenceEvent } from '../../src/domain/inference/events.ts'
import { encodeResponses } from '../../src/http/responses/encode.ts'
import { createResponsesWriter } from '../../src/http/responses/stream-writer.ts'
import {
  anyEvents,
  close,
  contextIn,
  credits,
  delta,
  end,
  open,
  parallelCalls,
  prove,
  start,
  textAnswer,
} from '../support/answers.ts'
import { serveText } from '../support/sse-server.ts'

async function readBySdk(text: string) {
  await using server = await serveText(text)
  const client = new OpenAI({ baseURL: server.url, apiKey: 'k', maxRetries: 0 })
  return await client.responses.stream({ model: 'm', input: 'Hello' }).finalResponse()
}

const streamed = (events: readonly InferenceEvent[]): string =>
  createResponsesWriter(contextIn('responses')).write(events)
const whole = (events: readonly InferenceEvent[]) => encodeResponses(contextIn('responses'), { events })

/** The SDK's helper adds the parsed content and the joined text. */
const comparable = (response: unknown) =>
  JSON.parse(JSON.stringify(response), (key, value: unknown) =>
    key === 'parsed' || key === 'parsed_arguments' || key === 'output_text' || key === 'output_parsed'
      ? undefined
      : value,
  )

describe('the answer that the official OpenAI client reads from the responses stream', () => {
  const answers: readonly [title: string, events: readonly InferenceEvent[]][] = [
    ['a text', textAnswer('Hel', 'lo')],
    ['parallel tool calls', parallelCalls],
    [
      'thinking with a proof',
      [
        start,
        open(0, { type: 'thinking' }),
        delta(0, 'Hm.'),
        prove(0, { format: 'responses', value: 'enc' }),
        close(0),
        end(),
      ],
    ],
    ['a refusal', [start, open(0, { type: 'refusal' }), delta(0, 'No.'), close(0), end('refusal')]],
  ]
  for (const [title, events] of answers) {
    it(`equals the answer without streaming: ${title}`, async () => {
      const response = await readBySdk(streamed(events))
      assert.deepEqual(comparable(response), comparable(whole(events)))
      assert.deepEqual({ ...response, ...credits }, response)
    })
  }

  it('has the joined text of a plain answer', async () => {
    assert.equal((await readBySdk(streamed(textAnswer('Hel', 'lo')))).output_text, 'Hello')
  })

  it('equals the answer without streaming, for any answer', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvents('responses'), async (events) => {
        assert.deepEqual(comparable(await readBySdk(streamed(events))), comparable(whole(events)))
      }),
      { numRuns: 60 },
    )
  })

  it('is an error if the upstream fails, before the start or in the middle of a block', async () => {
    for (const events of [[], [start], textAnswer('Hel').slice(0, 3)]) {
      const writer = createResponsesWriter(contextIn('responses'))
      const text =
        writer.write(events) + writer.fail(new Fault('upstream_overloaded', 'upstream_overloaded', 'Too busy.'))
      await assert.rejects(readBySdk(text), /Too busy/)
    }
  })
})
