import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contextIn } from '../../../test/support/answers.ts'
import { Fault } from '../../base/fault.ts'
import type { InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { createMessagesWriter } from './stream-writer.ts'

const usage: Usage = {
  inputTokens: 790,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 31,
  reasoningTokens: 0,
  source: 'reported',
}
const start: InferenceEvent = { type: 'start', model: 'm', usage: { ...usage, inputTokens: 812, outputTokens: 0 } }
const receipt = { creditsUsed: 12, costUsd: 0.0117, remainingCredits: 9988 }
const end = (stopReason: 'end' | 'tool-call' | 'filtered' | 'stop-sequence' = 'end'): InferenceEvent => ({
  type: 'end',
  stopReason,
  usage,
  receipt,
})

const context = contextIn('messages', {}, { id: 'msg_01' })

const write = (...events: InferenceEvent[]): string[] =>
  createMessagesWriter(context).write(events).split('\n\n').slice(0, -1)
const dataOf = (frame: string | undefined) => JSON.parse((frame ?? '').split('\ndata: ')[1] ?? '')
const middle = (...events: InferenceEvent[]) =>
  write(start, ...events, end())
    .slice(1, -2)
    .map(dataOf)

describe('the messages writer', () => {
  it('writes exactly the documented bytes for a minimal stream with a tool call', () => {
    assert.deepEqual(
      write(
        start,
        { type: 'open', block: 0, part: { type: 'text' } },
        { type: 'delta', block: 0, text: 'Looking.' },
        { type: 'close', block: 0 },
        { type: 'open', block: 1, part: { type: 'tool-call', id: 'toolu_9', name: 'read' } },
        { type: 'delta', block: 1, text: '{"path":"a"}' },
        { type: 'close', block: 1 },
        end('tool-call'),
      ),
      [
        'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"default-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":812,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Looking."}}',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
        'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_9","name":"read","input":{}}}',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"path\\":\\"a\\"}"}}',
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":790,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":31},"remaining_credits":9988,"estimated_credits_used":12,"estimated_cost_usd":0.0117}',
        'event: message_stop\ndata: {"type":"message_stop"}',
      ],
    )
  })

  it('sends the signature right before the end of its thinking block', () => {
    const events = middle(
      { type: 'open', block: 0, part: { type: 'thinking' } },
      { type: 'delta', block: 0, text: 'Hm.' },
      { type: 'signature', block: 0, signature: { format: 'messages', value: 'sig' } },
      { type: 'close', block: 0 },
    )
    assert.deepEqual(events, [
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_stop', index: 0 },
    ])
  })

  it('sends a citation of another upstream with an empty proof', () => {
    const events = middle(
      { type: 'open', block: 0, part: { type: 'text' } },
      { type: 'delta', block: 0, text: 'Sun.' },
      { type: 'citation', block: 0, citation: { url: 'https://a.example', title: 'A', range: { start: 0, end: 3 } } },
      { type: 'close', block: 0 },
    )
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      cited_text: '',
      encrypted_index: '',
    }
    assert.deepEqual(events[2], {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation },
    })
  })

  it('sends redacted thinking as a redacted_thinking block', () => {
    const events = middle(
      { type: 'open', block: 0, part: { type: 'thinking' } },
      { type: 'signature', block: 0, signature: { format: 'messages', value: 'opaque', redacted: true } },
      { type: 'close', block: 0 },
    )
    assert.deepEqual(events, [
      { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'opaque' } },
      { type: 'content_block_stop', index: 0 },
    ])
  })

  it('writes a refusal as text, and leaves out blocks of other dialects without a gap', () => {
    const events = middle(
      { type: 'open', block: 0, part: { type: 'opaque', dialect: 'responses', raw: {} } },
      { type: 'close', block: 0 },
      {
        type: 'open',
        block: 1,
        part: { type: 'opaque', dialect: 'messages', raw: { type: 'server_tool_use', id: 's' } },
      },
      { type: 'close', block: 1 },
      { type: 'open', block: 2, part: { type: 'refusal' } },
      { type: 'delta', block: 2, text: 'No.' },
      { type: 'close', block: 2 },
    )
    assert.deepEqual(events, [
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 's' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'No.' } },
      { type: 'content_block_stop', index: 1 },
    ])
  })

  it('sends the stop reason', () => {
    const deltaOf = (event: InferenceEvent) => dataOf(write(start, event).at(-2)).delta
    const details = { type: 'refusal', category: null, explanation: null }
    assert.deepEqual(deltaOf(end('filtered')), { stop_reason: 'refusal', stop_sequence: null, stop_details: details })
    assert.deepEqual(deltaOf({ type: 'end', stopReason: 'stop-sequence', stopSequence: 'END', usage }), {
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    })
    assert.deepEqual(
      deltaOf(end('stop-sequence')),
      { stop_reason: 'end_turn', stop_sequence: null },
      'the upstream did not report which',
    )
  })

  it('estimates the input tokens if no count is known, because some clients read them only from the start', () => {
    assert.ok(dataOf(write({ type: 'start', model: 'm' })[0]).message.usage.input_tokens > 0)
  })

  it('sends the error once, and nothing after it', () => {
    const writer = createMessagesWriter(context)
    writer.write([start])
    const fault = new Fault('upstream_overloaded', 'upstream_overloaded', 'Busy.')
    assert.equal(
      writer.fail(fault),
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy.","details":{"error_code":"upstream_overloaded"}},"request_id":"req_1"}\n\n',
    )
    assert.equal(writer.fail(fault), '')
    assert.ok(writer.hasEnded())
    assert.throws(() => writer.write([end()]), /after a failure/)
  })

  it('throws for an illegal event order', () => {
    assert.throws(() => write({ type: 'delta', block: 0, text: 'x' }), /before the start/)
    assert.throws(() => write(start, { type: 'delta', block: 0, text: 'x' }), /not open/)
    assert.throws(() => write(start, end(), end()), /after the end/)
  })
})

describe('the messages writer, passing raw frames through', () => {
  const chunkWith = (events: readonly InferenceEvent[], ...frames: [event: string, data: object][]): Chunk => ({
    events,
    raw: {
      kind: 'frames',
      dialect: 'messages',
      frames: frames.map(([event, data]) => ({ event, data: JSON.stringify(data) })),
    },
  })
  const opening = chunkWith(
    [start, { type: 'open', block: 0, part: { type: 'text' } }],
    [
      'message_start',
      {
        type: 'message_start',
        message: { id: 'upstream-id', model: 'claude', content: [], usage: { input_tokens: 3 }, new_field: 1 },
      },
    ],
    // Upstreams may begin with a block that stays empty and has no event.
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use' } }],
    ['content_block_start', { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }],
  )
  const closing = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_details: { why: 'x' } },
    usage: { output_tokens: 5, tier: 'a' },
  }

  it('changes the id and the model, and nothing else', () => {
    const writer = createMessagesWriter(context)
    const [messageStart] = writer.forward(opening).split('\n\n')
    assert.deepEqual(dataOf(messageStart).message, {
      id: 'msg_01',
      model: 'default-model',
      content: [],
      usage: { input_tokens: 3 },
      new_field: 1,
    })
    const citation = { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { a: 1 } } }
    assert.equal(
      writer.forward(chunkWith([], ['content_block_delta', citation])),
      `event: content_block_delta\ndata: ${JSON.stringify(citation)}\n\n`,
    )
  })

  it('holds the ending back until the cost is known, and adds it to the upstream’s own ending', () => {
    const writer = createMessagesWriter(context)
    writer.forward(opening)
    const stops = [0, 1].map((index): [string, object] => ['content_block_stop', { type: 'content_block_stop', index }])
    writer.forward(chunkWith([{ type: 'close', block: 0 }], ...stops))
    assert.equal(writer.forward(chunkWith([], ['message_delta', closing])), '')
    const [delta, stop] = writer.forward(chunkWith([end()], ['message_stop', { type: 'message_stop' }])).split('\n\n')
    assert.deepEqual(dataOf(delta).delta, { stop_reason: 'end_turn', stop_details: { why: 'x' } })
    assert.equal(dataOf(delta).usage.tier, 'a')
    assert.equal(dataOf(delta).usage.output_tokens, 5)
    assert.equal(dataOf(delta).estimated_credits_used, 12)
    assert.equal(stop, 'event: message_stop\ndata: {"type":"message_stop"}')
  })

  it('replaces zero counts by the gateway’s, because agents take zero for an empty context', () => {
    const writer = createMessagesWriter(context)
    const zeros = { input_tokens: 0, output_tokens: 0 }
    const started = { type: 'message_start', message: { content: [], usage: zeros } }
    const [messageStart] = writer.forward(chunkWith([start], ['message_start', started])).split('\n\n')
    assert.ok(dataOf(messageStart).message.usage.input_tokens > 0)
    const estimated: InferenceEvent = { type: 'end', stopReason: 'end', usage: { ...usage, source: 'estimated' } }
    const last = writer.forward(
      chunkWith(
        [estimated],
        ['message_delta', { ...closing, usage: zeros }],
        ['message_stop', { type: 'message_stop' }],
      ),
    )
    assert.equal(dataOf(last.split('\n\n')[0]).usage.input_tokens, 790)
  })

  it('leaves out events that the dialect does not define, because some clients fail on them', () => {
    const writer = createMessagesWriter(context)
    writer.forward(opening)
    assert.equal(writer.forward(chunkWith([], ['heartbeat', { type: 'heartbeat' }])), '')
  })

  it('formats the end itself if a check has ended the answer', () => {
    const writer = createMessagesWriter(context)
    writer.forward(opening)
    writer.forward(chunkWith([], ['message_delta', closing]))
    const frames = writer.write([{ type: 'close', block: 0 }, end('filtered')]).split('\n\n')
    assert.deepEqual(dataOf(frames[0]), { type: 'content_block_stop', index: 1 })
    assert.deepEqual(dataOf(frames[1]), { type: 'content_block_stop', index: 0 })
    assert.equal(dataOf(frames[2]).delta.stop_reason, 'refusal')
  })

  it('formats a chunk whose raw frames are in another dialect', () => {
    const foreign: Chunk = {
      events: [start],
      raw: { kind: 'frames', dialect: 'chat', frames: [{ event: undefined, data: '{}' }] },
    }
    assert.match(createMessagesWriter(context).forward(foreign), /^event: message_start/)
  })

  it('prefixes every line of a frame with its field name, and drops frames after the end', () => {
    const writer = createMessagesWriter(context)
    writer.forward(opening)
    const ping: Chunk = {
      events: [],
      raw: { kind: 'frames', dialect: 'messages', frames: [{ event: 'ping', data: '{\n}' }] },
    }
    assert.equal(writer.forward(ping), 'event: ping\ndata: {\ndata: }\n\n')
    writer.write([{ type: 'close', block: 0 }, end()])
    assert.equal(writer.forward(ping), '')
  })
})
