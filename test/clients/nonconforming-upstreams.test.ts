import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, answerStream, startUpstream, type TestUpstream } from '../support/upstream.ts'
import type { Client, ClientResult } from './client.ts'
import { newestClients } from './newest.ts'
import type { HttpKind } from './scripted-upstream.ts'

/** A server that imitates a vendor: its stream or its whole response. */
type Imitation = { readonly stream: readonly object[] } | { readonly document: object }

const chunk = (delta: object | null, finish: string | null = null) => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const call = (blockDelta: object) => chunk({ tool_calls: [blockDelta] })
const role = chunk({ role: 'assistant', content: '' })
const [reads, lists] = [
  { name: 'read', arguments: '{"path":"a"}' },
  { name: 'list', arguments: '{}' },
]

const chat: Readonly<Record<string, Imitation>> = {
  'repeats its role in each chunk': {
    stream: ['Hel', 'lo']
      .map((content) => chunk({ role: 'assistant', content }))
      .concat(chunk({ role: 'assistant' }, 'stop')),
  },
  'never says its role': { stream: [chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')] },
  'says next to nothing': {
    stream: [{ choices: [{ delta: { content: 'Hello' } }] }, { choices: [{ delta: {}, finish_reason: 'stop' }] }],
  },
  'reports on the prompt first, and never says its role': {
    stream: [{ choices: [], prompt_filter_results: [] }, chunk({ content: 'Hello' }), chunk({}, 'stop')],
  },
  'begins with a choice that has no delta': {
    stream: [chunk(null), role, chunk({ content: 'Hello' }), chunk({}, 'stop')],
  },
  'has choices that are none': {
    stream: [role, { ...role, choices: 'none' }, chunk({ content: 'Hello' }), chunk({}, 'stop')],
  },
  'sends an object for the arguments of a call': {
    stream: [role, call({ function: { name: 'read', arguments: { path: 'a' } } }), chunk({}, 'stop')],
  },
  'repeats what a call is': {
    stream: [
      role,
      call({ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path"' } }),
      call({ index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: ':"a"}' } }),
      chunk({}, 'tool_calls'),
    ],
  },
  'numbers all calls alike': {
    stream: [
      role,
      call({ index: 0, id: 'call_1', type: 'function', function: reads }),
      call({ index: 0, id: 'call_2', type: 'function', function: lists }),
      chunk({}, 'stop'),
    ],
  },
  'numbers calls from one': {
    stream: [role, call({ index: 1, id: 'call_1', type: 'function', function: reads }), chunk({}, 'tool_calls')],
  },
  'answers with a bare call, and says that it stopped': {
    document: { choices: [{ message: { tool_calls: [{ function: reads }] }, finish_reason: 'stop' }] },
  },
  'answers with next to nothing': { document: { choices: [{ message: { content: 'Hello' } }] } },
}

const message = { type: 'message', role: 'assistant', content: [], usage: { input_tokens: 3, output_tokens: 1 } }
const started = { type: 'message_start', message }
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const blockDelta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const text = (index: number) => [
  block(index, { type: 'text', text: '' }),
  blockDelta(index, { type: 'text_delta', text: 'Hello' }),
  { type: 'content_block_stop', index },
]
const stopped = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

const messages: Readonly<Record<string, Imitation>> = {
  'does not start its message': { stream: [...text(0), ...stopped] },
  'starts its message with next to nothing': {
    stream: [{ type: 'message_start', message: {} }, ...text(0), ...stopped],
  },
  'starts its message twice': { stream: [started, started, ...text(0), ...stopped] },
  'does not start its block': { stream: [started, ...text(0).slice(1), ...stopped] },
  'speaks in a role of its own': {
    document: { ...message, role: 'model', content: [{ type: 'text', text: 'Hello' }] },
  },
  'leaves out numbers': { stream: [started, ...text(2), ...stopped] },
  'thinks in a block of text': {
    stream: [
      started,
      text(0)[0] ?? {},
      blockDelta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      ...text(0).slice(1),
      ...stopped,
    ],
  },
  'answers with next to nothing': { document: { content: [{ type: 'text', text: 'Hello' }] } },
}

const item = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' }
const whole = { ...item, content: [{ type: 'output_text', text: 'Hello', annotations: [] }] }
const bare = { ...item, content: [{ type: 'output_text', text: 'Hello' }] }
const position = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const created = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 1, status: 'in_progress', output: [] },
}
const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } }
const part = {
  type: 'response.content_part.added',
  ...position,
  part: { type: 'output_text', text: '', annotations: [] },
}
const title = (item_id: string) => ({ type: 'response.output_text.delta', ...position, item_id, delta: 'Hello' })
const completed = (output: readonly object[]) => ({
  type: 'response.completed',
  response: { id: 'resp_1', created_at: 1, status: 'completed', output },
})
const functionCall = { type: 'function_call', call_id: 'call_1', ...reads }
const calling = { ...functionCall, id: 'fc_1', status: 'completed' }
const callEvents = [
  { type: 'response.output_item.added', item: { ...calling, arguments: '' } },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: reads.arguments },
  { type: 'response.output_item.done', item: calling },
]

const responses: Readonly<Record<string, Imitation>> = {
  'does not say that it began': { stream: [added, part, title('msg_1'), completed([whole])] },
  'begins no item': { stream: [created, part, title('msg_1'), completed([whole])] },
  'begins no part': { stream: [created, added, title('msg_1'), completed([whole])] },
  'changes the id of an item': { stream: [created, added, part, title('msg_2'), completed([whole])] },
  'has parts without annotations': {
    stream: [created, added, { ...part, part: { type: 'output_text', text: '' } }, title('msg_1'), completed([bare])],
  },
  'does not name its events': {
    stream: [created, added, part, { ...position, item_id: 'msg_1', delta: 'He' }, title('msg_1'), completed([whole])],
  },
  'has a message without content': { document: { output: [{ ...item, content: null }, whole] } },
  'has an item that is nothing': { document: { output: [{ status: 'completed' }, whole] } },
  'says all of it at the end': { stream: [created, completed([whole])] },
  'has no ids for its calls': {
    stream: [
      created,
      { type: 'response.output_item.added', output_index: 0, item: { ...functionCall, arguments: '' } },
      { type: 'response.output_item.done', output_index: 0, item: functionCall },
      completed([functionCall]),
    ],
  },
  'does not number its items': {
    stream: [
      created,
      ...[added, part, title('msg_1'), { type: 'response.output_item.done', item: whole }, ...callEvents].map(
        (event) => ({ ...event, output_index: undefined }),
      ),
      completed([whole, calling]),
    ],
  },
  'has one id for all its items': {
    stream: [
      created,
      added,
      part,
      title('msg_1'),
      { type: 'response.output_item.added', output_index: 1, item: { ...calling, id: 'msg_1', arguments: '' } },
      completed([whole, { ...calling, id: 'msg_1' }]),
    ],
  },
  'numbers its items from one': {
    stream: [
      created,
      ...[added, part, title('msg_1')].map((event) => ({ ...event, output_index: 1 })),
      completed([whole]),
    ],
  },
  'sends pings': {
    stream: [created, { type: 'ping' }, added, part, title('msg_1'), { type: 'ping' }, completed([whole])],
  },
  'answers with next to nothing': {
    document: { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }] },
  },
}

const imitations = { chat, messages, responses } as const
const kinds = { chat: 'openai-chat', messages: 'anthropic', responses: 'openai-responses' } as const satisfies Record<
  string,
  HttpKind
>

describe('an upstream that imitates a vendor’s API incorrectly', () => {
  let scene: TestApp
  let upstream: TestUpstream
  before(async () => {
    upstream = await startUpstream()
    const upstreams = Object.values(kinds).map((kind) => ({ name: kind, kind, base_url: upstream.url }))
    const models = upstreams.map(({ name }) => ({ name, targets: [{ upstream: name, model: 'm' }] }))
    scene = await startTestApp({ config: { upstreams, models } })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const send = (client: Client, imitation: Imitation): Promise<ClientResult> => {
    if ('document' in imitation) upstream.answer(answerJson(imitation.document))
    else upstream.answer(answerStream(...imitation.stream.map((event) => `data: ${JSON.stringify(event)}\n\n`)))
    return client.send(scene, { model: kinds[client.dialect], text: 'Hello' })
  }

  for (const client of newestClients) {
    for (const [name, imitation] of Object.entries(imitations[client.dialect])) {
      it(`${name}: ${client.name} can read it`, async () => {
        const { text: received, calls } = await send(client, imitation)
        const expected = JSON.stringify(imitation).includes('list') ? ['read', 'list'] : ['read']
        if (received === '')
          assert.deepEqual(
            calls.map((each) => each.name),
            expected,
          )
        else assert.equal(received, 'Hello')
        if (calls[0] !== undefined) assert.deepEqual(calls[0].input, { path: 'a' })
      })
    }
  }
})
