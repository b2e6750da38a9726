import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Kind } from '../../../test/support/provider-kit.ts'
import { ask, jsonHeaders, streamHeaders } from '../../../test/support/provider-kit.ts'
import { requestBy } from '../../../test/support/requests.ts'

/** A vendor-neutral response. Each text is a list of the deltas in which it is streamed. */
type AnyAnswer = {
  readonly thinking: readonly string[]
  readonly text: readonly string[]
  readonly calls: readonly AnyCall[]
}
type AnyCall = { readonly name: string; readonly deltas: readonly string[] }

const anyDeltas = fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 4 })

const call: fc.Arbitrary<AnyCall> = fc
  .tuple(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.dictionary(fc.string({ maxLength: 4 }), fc.string({ maxLength: 6 }), { minKeys: 1, maxKeys: 2 }),
    fc.nat(20),
  )
  .map(([name, input, at]) => {
    const json = JSON.stringify(input)
    return { name, deltas: [json.slice(0, at), json.slice(at)] }
  })

const answer: fc.Arbitrary<AnyAnswer> = fc.record({
  thinking: anyDeltas,
  text: anyDeltas,
  calls: fc.array(call, { maxLength: 3 }),
})

type Vendor = { readonly kind: Kind; stream(answer: AnyAnswer): object[]; document(answer: AnyAnswer): object }

const whole = (parts: readonly string[]): string => parts.join('')

const anthropic: Vendor = {
  kind: 'anthropic',
  stream({ thinking, text, calls }) {
    const blocks = [
      {
        start: { type: 'thinking', thinking: '' },
        deltas: thinking.map((each) => ({ type: 'thinking_delta', thinking: each })),
      },
      { start: { type: 'text', text: '' }, deltas: text.map((each) => ({ type: 'text_delta', text: each })) },
      ...calls.map(({ name, deltas: parts }, at) => ({
        start: { type: 'tool_use', id: `toolu_${at}`, name, input: {} },
        deltas: parts.map((each) => ({ type: 'input_json_delta', partial_json: each })),
      })),
    ].filter(({ start }, at) => start.type === 'tool_use' || whole(at === 0 ? thinking : text) !== '')
    return [
      { type: 'message_start', message: { model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 0 } } },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ]
  },
  document: ({ thinking, text, calls }) => ({
    type: 'message',
    model: 'm',
    content: [
      ...(whole(thinking) === '' ? [] : [{ type: 'thinking', thinking: whole(thinking) }]),
      { type: 'text', text: whole(text) },
      ...calls.map(({ name, deltas: parts }, at) => ({
        type: 'tool_use',
        id: `toolu_${at}`,
        name,
        input: JSON.parse(whole(parts)) as object,
      })),
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 5, output_tokens: 3 },
  }),
}

const usage = { prompt_tokens: 5, completion_tokens: 3 }

const chat: Vendor = {
  kind: 'openai-chat',
  stream({ thinking, text, calls }) {
    const deltas = [
      { role: 'assistant', content: '' },
      ...thinking.map((each) => ({ reasoning_content: each })),
      ...text.map((each) => ({ content: each })),
      ...calls.flatMap(({ name, deltas: parts }, index) => [
        { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] },
        ...parts.map((each) => ({ tool_calls: [{ index, function: { arguments: each } }] })),
      ]),
    ]
    return [
      ...deltas.map((delta) => ({ model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })),
      { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { model: 'm', choices: [], usage },
    ]
  },
  document: ({ thinking, text, calls }) => ({
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: whole(text),
          reasoning_content: whole(thinking),
          tool_calls: calls.map(({ name, deltas: parts }, at) => ({
            id: `call_${at}`,
            type: 'function',
            function: { name, arguments: whole(parts) },
          })),
        },
        finish_reason: 'stop',
      },
    ],
    usage,
  }),
}

const responses: Vendor = {
  kind: 'openai-responses',
  stream(each) {
    const deltas = [
      ...each.thinking.map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        summary_index: 0,
        delta,
      })),
      ...each.text.map((delta) => ({ type: 'response.output_text.delta', output_index: 1, content_index: 0, delta })),
      ...each.calls.flatMap(({ name, deltas: parts }, at) => [
        {
          type: 'response.output_item.added',
          output_index: at + 2,
          item: { type: 'function_call', call_id: `call_${at}`, name, arguments: '' },
        },
        ...parts.map((delta) => ({ type: 'response.function_call_arguments.delta', output_index: at + 2, delta })),
      ]),
    ]
    return [
      { type: 'response.created', response: { model: 'm' } },
      ...deltas,
      { type: 'response.completed', response: responses.document(each) },
    ]
  },
  document: ({ thinking, text, calls }) => ({
    status: 'completed',
    model: 'm',
    output: [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: whole(thinking) }] },
      { type: 'message', content: [{ type: 'output_text', text: whole(text) }] },
      ...calls.map(({ name, deltas: parts }, at) => ({
        type: 'function_call',
        call_id: `call_${at}`,
        name,
        arguments: whole(parts),
      })),
    ],
    usage: { input_tokens: 5, output_tokens: 3 },
  }),
}

const gemini: Vendor = {
  kind: 'gemini',
  stream: ({ thinking, text, calls }) => [
    ...thinking.map((each) => candidate([{ text: each, thought: true }])),
    ...text.map((each) => candidate([{ text: each }])),
    ...calls.map((each) => candidate([functionCall(each)])),
    { ...candidate([], 'STOP'), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 } },
  ],
  document: ({ thinking, text, calls }) => ({
    ...candidate([{ text: whole(thinking), thought: true }, { text: whole(text) }, ...calls.map(functionCall)], 'STOP'),
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 },
  }),
}

const candidate = (parts: readonly object[], finishReason?: string): object => ({
  modelVersion: 'm',
  candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
})

/** This format sends the arguments of a call as one object. */
const functionCall = ({ name, deltas }: AnyCall): object => ({
  functionCall: { name, args: JSON.parse(whole(deltas)) as object },
})

const framed = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

describe('any response', () => {
  for (const { kind, stream, document } of [anthropic, chat, responses, gemini]) {
    it(`of ${kind} decodes to the same result whether it was streamed or not`, async () => {
      const property = fc.asyncProperty(answer, async (any) => {
        const request = requestBy('chat')
        const streamed = await ask({
          kind,
          request,
          answer: { headers: streamHeaders, chunks: stream(any).map(framed), inOneRead: true },
        })
        const result = await ask({
          kind,
          request,
          answer: { headers: jsonHeaders, chunks: [JSON.stringify(document(any))] },
        })
        const { blocks, ...rest } = streamed.folded
        assert.deepEqual(
          { blocks: blocks.map(asObject), ...rest },
          { ...result.folded, blocks: result.folded.blocks.map(asObject) },
        )
        const [text, thinking] = (['text', 'thinking'] as const).map((type) =>
          blocks.flatMap((block) => (block.type === type ? [block.text] : [])).join(''),
        )
        assert.deepEqual([text, thinking], [whole(any.text), whole(any.thinking)])
        assert.equal(streamed.folded.stopReason, any.calls.length > 0 ? 'tool-call' : 'end')
      })
      await fc.assert(property, { numRuns: 150 })
    })
  }
})

/** One vendor sends objects, and the same JSON value has several texts. */
function asObject(block: object): object {
  return 'input' in block && typeof block.input === 'string'
    ? { ...block, input: JSON.parse(block.input) as unknown }
    : block
}
