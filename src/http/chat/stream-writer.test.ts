import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { close, contextIn, delta, start, usage } from '../../../test/support/answers.ts'
import { Fault } from '../../base/fault.ts'
import type { InferenceEvent, RawFrame, Chunk, StopReason } from '../../domain/inference/events.ts'
import type { StreamWriter } from '../inference/writing/stream-writer.ts'
import { createChatWriter } from './stream-writer.ts'

const end = (stopReason: StopReason = 'end'): InferenceEvent => ({
  type: 'end',
  stopReason,
  usage,
  receipt: { creditsUsed: 12, costUsd: 0.0117, remainingCredits: null },
})
const open = (block: number, type: 'text' | 'thinking' | 'refusal'): InferenceEvent => ({
  type: 'open',
  block,
  part: { type },
})

const createWriter = (includeUsage = false): StreamWriter =>
  createChatWriter(
    contextIn('chat', includeUsage ? { stream_options: { include_usage: true } } : {}, { id: 'chatcmpl-1' }),
  )

const dataOf = (text: string) =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => frame.slice('data: '.length))
const chunksOf = (text: string) =>
  dataOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data))
const deltasOf = (text: string) => chunksOf(text).map(({ choices }) => choices[0]?.delta)
const finishOf = (...events: InferenceEvent[]) =>
  chunksOf(createWriter().write([start, ...events])).at(-1).choices[0].finish_reason

describe('the chat writer', () => {
  it('writes exactly the documented bytes for a minimal stream', () => {
    const head =
      '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"default-model","choices":'
    assert.deepEqual(dataOf(createWriter().write([start, open(0, 'text'), delta(0, 'Hi'), close(0), end()])), [
      `${head}[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`,
      `${head}[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}`,
      `${head}[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}`,
      '[DONE]',
    ])
  })

  it('sends usage only with include_usage, in a last chunk without choices and with the cost', () => {
    const chunk = chunksOf(createWriter(true).write([start, end()])).at(-1)
    assert.deepEqual(chunk, {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'default-model',
      choices: [],
      usage: {
        prompt_tokens: 16,
        completion_tokens: 7,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      remaining_credits: null,
      estimated_credits_used: 12,
      estimated_cost_usd: 0.0117,
    })
  })

  it('sends id, type and name of a call once, and separates parallel calls', () => {
    const call = (block: number, id: string): InferenceEvent => ({
      type: 'open',
      block,
      part: { type: 'tool-call', id, name: 'f' },
    })
    const text = createWriter().write([
      start,
      call(0, 'a'),
      call(1, 'b'),
      delta(0, '{"x"'),
      delta(1, '{}'),
      delta(0, ':1}'),
      close(0),
      close(1),
      end(),
    ])
    assert.deepEqual(
      deltasOf(text)
        .slice(1, -1)
        .map(({ tool_calls: [part] }) => part),
      [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
        { index: 1, id: 'b', type: 'function', function: { name: 'f', arguments: '' } },
        { index: 0, function: { arguments: '{"x"' } },
        { index: 1, function: { arguments: '{}' } },
        { index: 0, function: { arguments: ':1}' } },
      ],
    )
    assert.equal(
      chunksOf(text).at(-1).choices[0].finish_reason,
      'tool_calls',
      'although the upstream reported a plain stop',
    )
  })

  it('gives a call without arguments an empty object', () => {
    const text = createWriter().write([
      start,
      { type: 'open', block: 0, part: { type: 'tool-call', id: 'a', name: 'f' } },
      close(0),
    ])
    assert.deepEqual(deltasOf(text).at(-1), { tool_calls: [{ index: 0, function: { arguments: '{}' } }] })
  })

  it('shows thinking as reasoning_content and a refusal as refusal', () => {
    const text = createWriter().write([
      start,
      open(0, 'thinking'),
      delta(0, 'Hm.'),
      { type: 'signature', block: 0, signature: { format: 'messages', value: 's' } },
      close(0),
      open(1, 'refusal'),
      delta(1, 'No.'),
      close(1),
    ])
    assert.deepEqual(deltasOf(text).slice(1), [{ reasoning_content: 'Hm.' }, { refusal: 'No.' }])
  })

  it('sends all citations in one chunk before the end, with positions in the whole text', () => {
    const cited = (block: number, last?: number): InferenceEvent => ({
      type: 'citation',
      block,
      citation: { url: `https://${block}.example`, title: `${block}`, ...(last && { range: { start: 1, end: last } }) },
    })
    const first = [open(0, 'text'), cited(0), delta(0, 'Sun. '), close(0)]
    const second = [open(1, 'text'), delta(1, 'Rain.'), cited(1, 4), cited(1, 99), close(1)]
    const text = createWriter().write([start, ...first, ...second, end()])
    const annotation = (at: number, start_index: number, end_index: number) => ({
      type: 'url_citation',
      url_citation: { url: `https://${at}.example`, title: `${at}`, start_index, end_index },
    })
    assert.deepEqual(deltasOf(text).slice(1), [
      { content: 'Sun. ' },
      { content: 'Rain.' },
      { annotations: [annotation(0, 0, 5), annotation(1, 6, 9), annotation(1, 5, 10)] },
      {},
    ])
  })

  it('sends the finish reason', () => {
    assert.equal(finishOf(end('length')), 'length')
    assert.equal(finishOf(end('context-full')), 'length')
    assert.equal(finishOf(end('stop-sequence')), 'stop')
    assert.equal(finishOf(end('pause')), 'stop')
    assert.equal(finishOf(end('filtered')), 'content_filter')
    assert.equal(finishOf(end('refusal')), 'content_filter')
    assert.equal(
      finishOf(open(0, 'refusal'), delta(0, 'No.'), close(0), end('refusal')),
      'stop',
      'the model sent a refusal text',
    )
  })

  it('sends the error and ends, in any state', () => {
    const fault = new Fault('upstream_timeout', 'upstream_timeout', 'Too slow.')
    for (const events of [[], [start], [start, open(0, 'text'), delta(0, 'x')]]) {
      const writer = createWriter()
      writer.write(events)
      assert.deepEqual(dataOf(writer.fail(fault)), [
        '{"error":{"message":"Too slow.","type":"provider_error","param":null,"code":"upstream_timeout"},"request_id":"req_1"}',
        '[DONE]',
      ])
    }
  })

  it('throws for an illegal event order', () => {
    assert.throws(() => createWriter().write([end()]), /before the start/)
    assert.throws(() => createWriter().write([start, open(0, 'text'), end()]), /while block 0 is open/)
  })
})

describe('the chat writer, passing raw frames through', () => {
  const frames = (...data: string[]): RawFrame[] => data.map((each) => ({ event: undefined, data: each }))
  const chunkWith = (events: readonly InferenceEvent[], ...data: string[]): Chunk => ({
    events,
    raw: { kind: 'frames', dialect: 'chat', frames: frames(...data) },
  })
  const chunk = (choices: string, rest = '') =>
    `{"id":"upstream-id","object":"chat.completion.chunk","created":5,"model":"llama","system_fingerprint":"fp","choices":${choices}${rest}}`
  const begun = (writer: StreamWriter) =>
    writer.forward(
      chunkWith([start, open(0, 'text')], chunk('[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]')),
    )
  const finish = chunk('[{"index":0,"delta":{},"finish_reason":"stop","matched_stop":7}]')
  const counted = chunk('[]', ',"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"extra":1}')

  it('changes the id and the model, and nothing else', () => {
    const writer = createWriter()
    begun(writer)
    const text = writer.forward(
      chunkWith(
        [delta(0, '"model":"x"')],
        chunk('[{"index":0,"delta":{"content":"\\"model\\":\\"x\\""},"logprobs":{"a":1}}]', ',"x_extra":{"model":"y"}'),
      ),
    )
    assert.deepEqual(chunksOf(text), [
      {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 5,
        model: 'default-model',
        system_fingerprint: 'fp',
        choices: [{ index: 0, delta: { content: '"model":"x"' }, logprobs: { a: 1 } }],
        x_extra: { model: 'y' },
      },
    ])
  })

  it('parses a chunk whose id and model come after the choices', () => {
    const writer = createWriter()
    begun(writer)
    const text = writer.forward(
      chunkWith(
        [delta(0, 'a')],
        '{"choices":[{"index":0,"delta":{"content":"a"}}],"id":"upstream-id","model":"llama"}',
      ),
    )
    assert.deepEqual(chunksOf(text), [
      {
        object: 'chat.completion.chunk',
        created: 1700000000,
        choices: [{ index: 0, delta: { content: 'a' } }],
        id: 'chatcmpl-1',
        model: 'default-model',
      },
    ])
  })

  it('writes a frame with a template as it writes the same frame without one', () => {
    const before = chunk('[{"index":0,"delta":{"content":"').slice(0, -1)
    const bodies = ['"},"finish_reason":null}]}', '"},"finish_reason":"stop"}]}', '"}}],"usage":{"prompt_tokens":1}}']
    const templates = bodies.map((after) => ({ before, after }))
    const parts = fc.tuple(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constant('"role": "finish_reason": "usage":{')),
      fc.nat(2),
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (list) => {
        const written = [true, false].map((hasTemplate) => {
          const writer = createWriter()
          begun(writer)
          return list.map(([text, at]) => {
            const template = templates[at] ?? { before, after: '' }
            const data = `${before}${JSON.stringify(text).slice(1, -1)}${template.after}`
            const frame: RawFrame = { event: undefined, data, ...(hasTemplate && { template }) }
            return writer.forward({ events: [], raw: { kind: 'frames', dialect: 'chat', frames: [frame] } })
          })
        })
        assert.deepEqual(written[0], written[1])
      }),
    )
  })

  it('sends the role once, however often the upstream does, and keeps the other fields', () => {
    const writer = createWriter()
    const frameOf = (content: string, more = {}, role: object = { role: 'assistant' }): string =>
      JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta: { ...role, content }, ...more }] })
    const input = [
      chunkWith([start], frameOf('')),
      chunkWith([open(0, 'text'), delta(0, 'a')], frameOf('a', {}, {})),
      chunkWith([delta(0, 'a')], frameOf('a', { extra: 1 })),
      chunkWith([close(0)], frameOf('', { finish_reason: 'stop' })),
      chunkWith([end()], '[DONE]'),
    ]
    const chunks = chunksOf(
      input
        .map((each) => writer.forward(each))
        .join('')
        .replace('data: [DONE]\n\n', ''),
    )
    assert.deepEqual(
      chunks.map(({ choices: [choice] }) => choice.delta.role),
      ['assistant', undefined, undefined, undefined],
    )
    assert.equal(chunks[2].choices[0].extra, 1)
  })

  it('holds finish and usage back until the cost is known', () => {
    const writer = createWriter(true)
    begun(writer)
    assert.equal(writer.forward(chunkWith([close(0)], finish, counted)), '')
    const [last, count, ...rest] = dataOf(writer.forward(chunkWith([end()], '[DONE]')))
    assert.equal(JSON.parse(last ?? '').choices[0].matched_stop, 7)
    assert.deepEqual(JSON.parse(count ?? '').usage, {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      extra: 1,
    })
    assert.equal(JSON.parse(count ?? '').estimated_credits_used, 12)
    assert.deepEqual(rest, ['[DONE]'])
  })

  it('leaves out the upstream’s usage without include_usage', () => {
    const writer = createWriter()
    begun(writer)
    const text = writer.forward(chunkWith([close(0), end()], finish, counted, '[DONE]'))
    assert.deepEqual(dataOf(text).length, 2)
    assert.doesNotMatch(text, /usage/)
  })

  it('corrects the finish reason of an upstream that called a tool', () => {
    const writer = createWriter()
    const call: InferenceEvent = { type: 'open', block: 0, part: { type: 'tool-call', id: 'a', name: 'f' } }
    writer.forward(
      chunkWith(
        [start, call, delta(0, '{}'), close(0)],
        chunk('[{"index":0,"delta":{"role":"assistant","tool_calls":[]}}]'),
        finish,
      ),
    )
    assert.equal(chunksOf(writer.forward(chunkWith([end()], '[DONE]')))[0].choices[0].finish_reason, 'tool_calls')
  })

  it('formats the end itself if a check has ended the answer', () => {
    const writer = createWriter()
    begun(writer)
    writer.forward(chunkWith([], finish))
    assert.equal(chunksOf(writer.write([close(0), end('filtered')]))[0].choices[0].finish_reason, 'content_filter')
  })
})
