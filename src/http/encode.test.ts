import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contextIn, credits, start, usage } from '../../test/support/answers.ts'
import type { InferenceEnd, InferenceEvent, RawDocument, Chunk } from '../domain/inference/events.ts'
import type { CallerFormat } from '../domain/inference/formats.ts'
import { encodeChat } from './chat/encode.ts'
import { encodeMessages } from './messages/encode.ts'
import { signatureText, readSignature } from './inference/signature-envelope.ts'
import { encodeResponses } from './responses/encode.ts'
import type { AnswerContext } from './inference/writing/stream-writer.ts'
import { collectAnswer } from './inference/writing/whole-answer.ts'

const end: InferenceEnd = {
  type: 'end',
  stopReason: 'end',
  usage,
  receipt: { creditsUsed: 12, costUsd: 0.0117, remainingCredits: 9988 },
}

/** Thinking with a signature of Anthropic's, two texts, a call with bad arguments and one without any. */
const events: readonly InferenceEvent[] = [
  start,
  { type: 'open', block: 0, part: { type: 'thinking' } },
  { type: 'delta', block: 0, text: 'Hm.' },
  { type: 'signature', block: 0, signature: { format: 'messages', value: 'sig' } },
  { type: 'close', block: 0 },
  { type: 'open', block: 1, part: { type: 'text' } },
  { type: 'delta', block: 1, text: 'One.' },
  { type: 'close', block: 1 },
  { type: 'open', block: 2, part: { type: 'text' } },
  { type: 'delta', block: 2, text: 'Two.' },
  { type: 'close', block: 2 },
  { type: 'open', block: 3, part: { type: 'tool-call', id: 'call_1', name: 'f' } },
  { type: 'delta', block: 3, text: '{"a":' },
  { type: 'close', block: 3 },
  { type: 'open', block: 4, part: { type: 'tool-call', id: 'call_2', name: 'g' } },
  { type: 'close', block: 4 },
  end,
]

const contextOf = (dialect: CallerFormat): AnswerContext => contextIn(dialect, {}, { id: 'answer_1' })

describe('a complete answer', () => {
  it('is a message on /v1/messages', () => {
    assert.deepEqual(encodeMessages(contextOf('messages'), { events }), {
      id: 'answer_1',
      type: 'message',
      role: 'assistant',
      model: 'default-model',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
        { type: 'tool_use', id: 'call_1', name: 'f', input: { _raw: '{"a":' } },
        { type: 'tool_use', id: 'call_2', name: 'g', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 4,
        output_tokens: 7,
        output_tokens_details: { thinking_tokens: 3 },
      },
      ...credits,
    })
  })

  it('is a completion on /v1/chat/completions', () => {
    assert.deepEqual(encodeChat(contextOf('chat'), { events }), {
      id: 'answer_1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'default-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'One.Two.',
            refusal: null,
            reasoning_content: 'Hm.',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":' } },
              { id: 'call_2', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 16,
        completion_tokens: 7,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      ...credits,
    })
  })

  it('is a response on /v1/responses', () => {
    const message = (id: string, text: string) => ({
      id,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    })
    const { output, status, ...rest } = encodeResponses(contextOf('responses'), { events })
    assert.equal(status, 'completed')
    assert.deepEqual(output, [
      {
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: signatureText({ format: 'messages', value: 'sig' }, 'responses'),
      },
      message('msg_2', 'One.'),
      message('msg_3', 'Two.'),
      { id: 'fc_4', type: 'function_call', status: 'completed', call_id: 'call_1', name: 'f', arguments: '{"a":' },
      { id: 'fc_5', type: 'function_call', status: 'completed', call_id: 'call_2', name: 'g', arguments: '{}' },
    ])
    assert.deepEqual({ ...rest, ...credits }, rest)
  })

  it('contains the citations of its text', () => {
    const cited: InferenceEvent[] = [
      ...events.slice(0, 10),
      { type: 'citation', block: 2, citation: { url: 'https://a.example', title: 'A', passage: 'Two', proof: 'p' } },
      ...events.slice(10),
    ]
    const page = { url: 'https://a.example', title: 'A' }
    const message = encodeMessages(contextOf('messages'), { events: cited }) as { content: object[] }
    const citation = { type: 'web_search_result_location', ...page, cited_text: 'Two', encrypted_index: 'p' }
    assert.deepEqual(message.content[2], { type: 'text', text: 'Two.', citations: [citation] })
    const { choices } = encodeChat(contextOf('chat'), { events: cited }) as {
      choices: { message: { annotations?: unknown } }[]
    }
    assert.deepEqual(choices[0]?.message.annotations, [
      { type: 'url_citation', url_citation: { ...page, start_index: 4, end_index: 8 } },
    ])
    const response = encodeResponses(contextOf('responses'), { events: cited }) as { output: { content: object[] }[] }
    const annotation = { type: 'url_citation', ...page, start_index: 0, end_index: 4 }
    assert.deepEqual(response.output[2]?.content, [
      { type: 'output_text', text: 'Two.', annotations: [annotation], logprobs: [] },
    ])
  })

  it('sends content: null for a completion without text', () => {
    const { choices } = encodeChat(contextOf('chat'), { events: [start, end] }) as { choices: { message: object }[] }
    assert.deepEqual(choices[0]?.message, { role: 'assistant', content: null, refusal: null })
  })

  it('contains the policy that changed it', () => {
    const policy = { decision: 'redact' }
    for (const [dialect, encode] of [
      ['messages', encodeMessages],
      ['chat', encodeChat],
      ['responses', encodeResponses],
    ] as const) {
      assert.equal(encode(contextOf(dialect), { events: [start, { ...end, policy }] })['policy'], policy)
    }
  })

  it('costs nothing if the organization is not metered', () => {
    const free: InferenceEnd = { type: 'end', stopReason: 'end', usage }
    const answer = encodeMessages(contextOf('messages'), { events: [start, free] })
    assert.deepEqual(
      [answer['remaining_credits'], answer['estimated_credits_used'], answer['estimated_cost_usd']],
      [null, 0, 0],
    )
  })

  it('is the upstream’s own document if it has the same dialect, with the gateway’s id and model name and the cost', () => {
    for (const [dialect, encode] of [
      ['messages', encodeMessages],
      ['chat', encodeChat],
      ['responses', encodeResponses],
    ] as const) {
      const document: RawDocument = {
        kind: 'document',
        dialect,
        body: { id: 'upstream-id', model: 'm', usage: { odd: 1 }, new_field: 2 },
      }
      assert.partialDeepStrictEqual(encode(contextOf(dialect), { events: [start, end], document }), {
        id: 'answer_1',
        model: 'default-model',
        usage: { odd: 1 },
        new_field: 2,
        ...credits,
      })
      const foreign: RawDocument = { ...document, dialect: dialect === 'chat' ? 'messages' : 'chat' }
      assert.ok(!('new_field' in encode(contextOf(dialect), { events: [start, end], document: foreign })))
    }
  })
})

describe('a response of an upstream that stores it', () => {
  it('reports whether the response is stored', () => {
    const echo = { store: true, previous_response_id: 'resp_0' }
    const body = { store: false, previous_response_id: null }
    const document: RawDocument = { kind: 'document', dialect: 'responses', body }
    const context = { ...contextOf('responses'), echo }
    assert.partialDeepStrictEqual(encodeResponses(context, { events: [start, end], document }), echo)
  })
})

describe('a document of an upstream that leaves fields out', () => {
  const uncounted: InferenceEvent = { ...end, usage: { ...end.usage, source: 'estimated' } }
  const bare = (dialect: CallerFormat): RawDocument => ({ kind: 'document', dialect, body: {} })

  it('gets the fields that clients expect', () => {
    const message = encodeMessages(contextOf('messages'), { events: [start, uncounted], document: bare('messages') })
    assert.partialDeepStrictEqual(message, { type: 'message', role: 'assistant', stop_reason: 'end_turn' })
    assert.equal(message['stop_sequence'], null)
    const chat = encodeChat(contextOf('chat'), { events: [start, uncounted], document: bare('chat') })
    assert.partialDeepStrictEqual(chat, { object: 'chat.completion', created: 1700000000 })
    const response = encodeResponses(contextOf('responses'), {
      events: [start, uncounted],
      document: bare('responses'),
    })
    assert.partialDeepStrictEqual(response, { object: 'response', created_at: 1700000000, status: 'completed' })
  })

  it('has the stop reason of a tool call if there is one, whatever the upstream reports', () => {
    const call: InferenceEvent = { type: 'open', block: 0, part: { type: 'tool-call', id: 'a', name: 'f' } }
    const called: InferenceEvent[] = [start, call, { type: 'close', block: 0 }, end]
    const body = { content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }], stop_reason: 'end_turn' }
    const document: RawDocument = { kind: 'document', dialect: 'messages', body }
    assert.equal(encodeMessages(contextOf('messages'), { events: called, document })['stop_reason'], 'tool_use')
  })

  it('has the gateway’s token counts if its own are missing or implausible', () => {
    const body = { usage: { completion_tokens: -3, total_tokens: null, extra: 1 } }
    const document: RawDocument = { kind: 'document', dialect: 'chat', body }
    assert.deepEqual(encodeChat(contextOf('chat'), { events: [start, uncounted], document })['usage'], {
      ...(encodeChat(contextOf('chat'), { events: [start, uncounted] })['usage'] as object),
      extra: 1,
    })
  })
})

describe('collecting an answer', () => {
  const document: RawDocument = { kind: 'document', dialect: 'chat', body: {} }
  async function* of(...chunks: Chunk[]) {
    yield* chunks
  }

  it('joins the chunks', async () => {
    assert.deepEqual(await collectAnswer(of({ events: [start] }, { events: [end] })), { events: [start, end] })
  })

  it('returns the document only if it is the complete answer', async () => {
    assert.deepEqual(await collectAnswer(of({ events: [start, end], raw: document })), {
      events: [start, end],
      document,
    })
    const changed = await collectAnswer(of({ events: [start], raw: document }, { events: [end] }))
    assert.equal(changed.document, undefined)
  })
})

describe('a reasoning signature in another dialect’s field', () => {
  it('is unchanged in its own dialect and in an envelope in another', () => {
    const signature = { format: 'messages', value: 'sig' } as const
    assert.equal(signatureText(signature, 'messages'), 'sig')
    assert.deepEqual(readSignature(signatureText(signature, 'responses'), 'responses'), signature)
  })

  it('is in an envelope in its own dialect if the caller sees its item under another id', () => {
    const signature = { format: 'responses', value: 'enc', id: 'rs_upstream' } as const
    assert.equal(signatureText(signature, 'responses', 'rs_upstream'), 'enc')
    assert.deepEqual(readSignature(signatureText(signature, 'responses', 'rs_gateway'), 'responses'), signature)
  })

  it('can be of a format that no caller uses', () => {
    const signature = { format: 'gemini', value: 'sig' }
    assert.deepEqual(readSignature(signatureText(signature, 'messages'), 'messages'), signature)
  })

  it('is read from the envelopes of earlier versions', () => {
    const content = { dialect: 'responses', value: 'enc', id: 'rs_1' }
    const text = `gw1.${Buffer.from(JSON.stringify(content)).toString('base64url')}`
    assert.deepEqual(readSignature(text, 'messages'), { format: 'responses', value: 'enc', id: 'rs_1' })
  })

  it('is ignored if it is empty or was tampered with', () => {
    const wrapped = (value: unknown) => `gw1.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
    for (const text of [
      '',
      'gw1.',
      'gw1.%%%',
      wrapped(null),
      wrapped({ dialect: 1, value: 'y' }),
      wrapped({ dialect: 'chat', value: 1 }),
    ]) {
      assert.equal(readSignature(text, 'messages'), undefined)
    }
  })
})
