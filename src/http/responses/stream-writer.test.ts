import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { close, contextIn, delta, end, start, usage } from '../../../test/support/answers.ts'
import { Fault } from '../../base/fault.ts'
import type { InferenceEvent, Chunk, StopReason } from '../../domain/inference/events.ts'
import type { AnswerContext, StreamWriter } from '../inference/writing/stream-writer.ts'
import { createResponsesWriter } from './stream-writer.ts'

const open = (block: number, type: 'text' | 'thinking' | 'refusal'): InferenceEvent => ({
  type: 'open',
  block,
  part: { type },
})
const call = (block: number, id: string): InferenceEvent => ({
  type: 'open',
  block,
  part: { type: 'tool-call', id, name: 'f' },
})

const createWriter = (body: Record<string, unknown> = {}, echo: AnswerContext['echo'] = {}): StreamWriter =>
  createResponsesWriter(contextIn('responses', body, { id: 'resp_1', echo }))

const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.split('\ndata: ')[1] ?? ''))
const namesOf = (text: string) => eventsOf(text).map(({ type }) => type.replace('response.', ''))
const written = (...events: InferenceEvent[]) => createWriter().write([start, ...events, end()])

describe('the responses writer', () => {
  it('writes a text in the published order, numbered from 0', () => {
    const text = written(open(0, 'text'), delta(0, 'Hel'), delta(0, 'lo'), close(0))
    assert.deepEqual(namesOf(text), [
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    const events = eventsOf(text)
    assert.deepEqual(
      events.map(({ sequence_number: number }) => number),
      events.keys().toArray(),
    )
    assert.equal(
      text.split('\n\n')[4],
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hel","logprobs":[]}',
    )
  })

  it('ends with the whole response: every item, the counts, the cost and the repeated request', () => {
    const writer = createWriter({
      instructions: 'Be brief.',
      temperature: 0.5,
      tools: [{ type: 'function', name: 'f' }],
    })
    const { response } = eventsOf(writer.write([start, open(0, 'text'), delta(0, 'Hi'), close(0), end()])).at(-1)
    assert.deepEqual(response.output, [
      {
        id: 'msg_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
      },
    ])
    assert.deepEqual(response.usage, {
      input_tokens: 16,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 23,
    })
    const { id, object, created_at, status, error, remaining_credits, estimated_credits_used, estimated_cost_usd } =
      response
    assert.deepEqual([id, object, created_at, status, error], ['resp_1', 'response', 1_700_000_000, 'completed', null])
    assert.deepEqual([remaining_credits, estimated_credits_used, estimated_cost_usd], [9988, 12, 0.0117])
    assert.deepEqual([response.instructions, response.temperature], ['Be brief.', 0.5])
    assert.deepEqual(response.tools, [{ type: 'function', name: 'f' }])
  })

  it('keeps parallel calls apart and gives one without arguments an empty object', () => {
    const events = eventsOf(
      written(call(0, 'call_a'), call(1, 'call_b'), delta(0, '{"x"'), close(1), delta(0, ':1}'), close(0)),
    )
    assert.deepEqual(events.at(-1).response.output, [
      { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_a', name: 'f', arguments: '{"x":1}' },
      { id: 'fc_2', type: 'function_call', status: 'completed', call_id: 'call_b', name: 'f', arguments: '{}' },
    ])
    assert.deepEqual(
      events
        .filter(({ type }) => type.endsWith('arguments.done'))
        .map((event) => [event.output_index, event.item_id, event.arguments]),
      [
        [0, 'fc_1', '{"x":1}'],
        [1, 'fc_2', '{}'],
      ],
    )
  })

  it('sends thinking as a summary, with its signature', () => {
    const signed: InferenceEvent = { type: 'signature', block: 0, signature: { format: 'responses', value: 'enc' } }
    const text = written(open(0, 'thinking'), delta(0, 'Hm.'), signed, close(0))
    assert.deepEqual(namesOf(text).slice(2, -1), [
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ])
    assert.deepEqual(eventsOf(text).at(-1).response.output, [
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'enc' },
    ])
  })

  it('adds citations after the text, and repeats them in its part', () => {
    const cited = (range?: { start: number; end: number }): InferenceEvent => ({
      type: 'citation',
      block: 0,
      citation: { url: 'https://a.example', title: 'A', ...(range && { range }) },
    })
    const text = written(
      open(0, 'text'),
      cited(),
      delta(0, 'Sun. '),
      cited({ start: 5, end: 9 }),
      delta(0, 'Rain.'),
      close(0),
    )
    assert.deepEqual(namesOf(text).slice(6, 9), [
      'output_text.annotation.added',
      'output_text.annotation.added',
      'output_text.done',
    ])
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A' }
    const annotations = [
      { ...annotation, start_index: 0, end_index: 10 },
      { ...annotation, start_index: 5, end_index: 9 },
    ]
    const events = eventsOf(text)
    assert.deepEqual(
      events.slice(6, 8).map((event) => [event.annotation_index, event.item_id, event.annotation]),
      annotations.map((one, at) => [at, 'msg_1', one]),
    )
    assert.deepEqual(events.find(({ type }) => type === 'response.content_part.done').part.annotations, annotations)
    assert.deepEqual(events.at(-1).response.output[0].content[0].annotations, annotations)
  })

  it('writes a refusal as a part of its own, in a completed response', () => {
    const writer = createWriter()
    const events = eventsOf(writer.write([start, open(0, 'refusal'), delta(0, 'No.'), close(0), end('refusal')]))
    assert.equal(events.at(-1).type, 'response.completed')
    assert.deepEqual(events.at(-1).response.output[0].content, [{ type: 'refusal', refusal: 'No.' }])
  })

  it('sends the reason for an incomplete answer', () => {
    const reasonOf = (stopReason: StopReason) => {
      const last = eventsOf(createWriter().write([start, end(stopReason)])).at(-1)
      return [last.type, last.response.incomplete_details?.reason]
    }
    assert.deepEqual(reasonOf('length'), ['response.incomplete', 'max_output_tokens'])
    assert.deepEqual(reasonOf('context-full'), ['response.incomplete', 'max_output_tokens'])
    assert.deepEqual(reasonOf('filtered'), ['response.incomplete', 'content_filter'])
    assert.deepEqual(reasonOf('refusal'), ['response.incomplete', 'content_filter'])
    assert.deepEqual(reasonOf('pause'), ['response.completed', undefined])
  })

  it('sends items of its own dialect and leaves out those of others', () => {
    const raw = { id: 'ws_1', type: 'web_search_call', status: 'completed' }
    const own: InferenceEvent = { type: 'open', block: 0, part: { type: 'opaque', dialect: 'responses', raw } }
    const other: InferenceEvent = { type: 'open', block: 1, part: { type: 'opaque', dialect: 'messages', raw } }
    const text = written(own, close(0), other, close(1))
    assert.deepEqual(namesOf(text).slice(2, -1), ['output_item.added', 'output_item.done'])
    assert.deepEqual(eventsOf(text).at(-1).response.output, [raw])
  })

  it('sends the error in both forms, and ends a response that had begun', () => {
    const fault = new Fault('upstream_failed', 'upstream_error', 'It broke.')
    const [early] = eventsOf(createWriter().fail(fault))
    assert.deepEqual(early, {
      type: 'error',
      sequence_number: 0,
      code: 'upstream_error',
      message: 'It broke.',
      param: null,
      error: { message: 'It broke.', type: 'provider_error', param: null, code: 'upstream_error' },
      request_id: 'req_1',
    })
    const writer = createWriter()
    writer.write([start])
    const [error, failed, ...rest] = eventsOf(writer.fail(fault))
    assert.deepEqual(
      [error.sequence_number, failed.type, failed.response.status, rest],
      [2, 'response.failed', 'failed', []],
    )
    assert.deepEqual(failed.response.error, { code: 'upstream_error', message: 'It broke.' })
    assert.throws(() => writer.write([end()]), /after a failure/)
  })

  it('throws for an illegal event order', () => {
    assert.throws(() => createWriter().write([open(0, 'text')]), /before the start/)
    assert.throws(() => createWriter().write([start, open(1, 'text')]), /where 0 is next/)
  })
})

describe('the responses writer, passing raw frames through', () => {
  const chunkWith = (
    events: readonly InferenceEvent[],
    ...frames: ({ type: string } & Record<string, unknown>)[]
  ): Chunk => ({
    events,
    raw: {
      kind: 'frames',
      dialect: 'responses',
      frames: frames.map((data) => ({ event: data.type, data: JSON.stringify(data) })),
    },
  })
  const upstreamResponse = { id: 'upstream-id', model: 'gpt', status: 'in_progress', output: [], service_tier: 'x' }
  const item = { id: 'msg_t', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
  const position = { item_id: 'msg_t', output_index: 0, content_index: 0 }
  const opening = [
    chunkWith([start], { type: 'response.created', sequence_number: 0, response: upstreamResponse }),
    chunkWith(
      [open(0, 'text')],
      { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
      {
        type: 'response.content_part.added',
        sequence_number: 2,
        ...position,
        part: { type: 'output_text', text: '' },
      },
    ),
    chunkWith([delta(0, 'Hi')], { type: 'response.output_text.delta', sequence_number: 3, ...position, delta: 'Hi' }),
  ]

  it('changes the id and the model of the response, and nothing in its items', () => {
    const writer = createWriter()
    const [created, added] = eventsOf(opening.map((each) => writer.forward(each)).join(''))
    assert.deepEqual(created.response, { ...upstreamResponse, id: 'resp_1', model: 'default-model' })
    assert.deepEqual(added.item, item)
  })

  it('reports whether the gateway stores the response, whatever the upstream reports', () => {
    const echo = { store: true, previous_response_id: 'resp_0' }
    const writer = createWriter({}, echo)
    const [created] = eventsOf(opening.map((each) => writer.forward(each)).join(''))
    assert.partialDeepStrictEqual(created.response, echo)
    const response = { ...upstreamResponse, status: 'completed', store: false, previous_response_id: null }
    const [last] = eventsOf(writer.forward(chunkWith([close(0), end()], { type: 'response.completed', response })))
    assert.partialDeepStrictEqual(last.response, echo)
  })

  it('continues a message that the upstream has started without a part', () => {
    const writer = createWriter()
    const [created] = opening
    const message = chunkWith([], { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item })
    assert.ok(created)
    writer.forward(created)
    writer.forward(message)
    const events = eventsOf(writer.write([open(0, 'text'), delta(0, 'Hi'), close(0), end()]))
    assert.deepEqual(events.map(({ type, item_id: id }) => [type, id]).slice(0, 2), [
      ['response.content_part.added', 'msg_t'],
      ['response.output_text.delta', 'msg_t'],
    ])
    assert.deepEqual(
      events.at(-1).response.output.map(({ id, status }: { id: string; status: string }) => [id, status]),
      [['msg_t', 'completed']],
    )
  })

  it('leaves out events that the dialect does not define, because some clients fail on them', () => {
    const writer = createWriter()
    for (const each of opening) writer.forward(each)
    assert.equal(writer.forward(chunkWith([], { type: 'keepalive' })), '')
  })

  it('holds the last event back until the cost is known, and adds items that it left out', () => {
    const writer = createWriter()
    for (const each of opening) writer.forward(each)
    const done = {
      ...item,
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [{ a: 1 }] }],
    }
    writer.forward(
      chunkWith([close(0)], { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item: done }),
    )
    const completed = {
      type: 'response.completed',
      response: { ...upstreamResponse, status: 'completed', usage: { input_tokens: 3, extra: 1 } },
    }
    const [last, ...rest] = eventsOf(writer.forward(chunkWith([end()], completed)))
    assert.deepEqual(rest, [])
    assert.deepEqual([last.type, last.sequence_number, last.response.id], ['response.completed', 5, 'resp_1'])
    assert.deepEqual(last.response.output, [done])
    assert.deepEqual([last.response.usage.input_tokens, last.response.usage.extra], [3, 1])
    assert.deepEqual([last.response.service_tier, last.response.estimated_credits_used], ['x', 12])
  })

  it('completes a call of the upstream with namespace and name', () => {
    const tools = [{ type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] }]
    const writer = createWriter({ tools })
    const called = { id: 'fc_t', type: 'function_call', call_id: 'c', name: 'close', namespace: 'agents' }
    const part = { type: 'tool-call', id: 'c', name: 'agents.close' } as const
    for (const each of opening.slice(0, 1)) writer.forward(each)
    writer.forward(
      chunkWith([{ type: 'open', block: 0, part }], {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...called, arguments: '' },
      }),
    )
    const { item: done } = eventsOf(writer.write([delta(0, '{}'), close(0), end()])).at(-2)
    assert.deepEqual(done, { ...called, status: 'completed', arguments: '{}' })
  })

  it('has the gateway’s counts if the upstream’s are implausible', () => {
    const writer = createWriter()
    for (const each of opening) writer.forward(each)
    const ending: InferenceEvent = { type: 'end', stopReason: 'end', usage: { ...usage, source: 'estimated' } }
    const response = {
      ...upstreamResponse,
      status: 'completed',
      usage: { input_tokens: 0, output_tokens: 2, extra: 1 },
    }
    const [last] = eventsOf(writer.forward(chunkWith([close(0), ending], { type: 'response.completed', response })))
    assert.partialDeepStrictEqual(last.response.usage, { input_tokens: 16, extra: 1 })
  })

  it('completes the upstream’s item itself if a check has ended the answer', () => {
    const writer = createWriter()
    for (const each of opening) writer.forward(each)
    const events = eventsOf(writer.write([close(0), end('filtered')]))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.incomplete'],
    )
    assert.deepEqual([events[0].item_id, events[0].text, events[0].sequence_number], ['msg_t', 'Hi', 4])
    assert.equal(events[3].response.output[0].id, 'msg_t')
    assert.equal(events[3].response.incomplete_details.reason, 'content_filter')
  })
})
