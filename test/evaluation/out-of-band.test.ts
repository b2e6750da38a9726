import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { httpKinds, type HttpKind } from '../clients/scripted-upstream.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

type Json = Readonly<Record<string, unknown>>

const paths: Readonly<Record<HttpKind, string>> = {
  anthropic: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
}

const requests: Readonly<Record<HttpKind, Json>> = {
  anthropic: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
  'openai-chat': { messages: [{ role: 'user', content: 'Hello' }], stream_options: { include_usage: true } },
  'openai-responses': { input: 'Hello', store: false, instructions: 'Be kind to all.' },
}

const typed = (type: string, ...rest: readonly Json[]): Json => Object.assign({ type }, ...rest)

/** Frames of a response with the text "Here it is." in two chunks, each of which takes further fields. */
const chat = {
  chunk: (delta: Json, choice: Json = {}, top: Json = {}): Json => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...top,
  }),
  frames: (first: Json[], ...more: Json[]): Json[] => [
    chat.chunk({ role: 'assistant', content: '' }),
    chat.chunk({ content: 'Here ' }),
    ...first,
    chat.chunk({ content: 'it is.' }),
    ...(more.length > 0 ? more : [chat.chunk({}, { finish_reason: 'stop' })]),
  ],
  document: (message: Json, choice: Json = {}, top: Json = {}): Json => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Here it is.', ...message },
        finish_reason: 'stop',
        ...choice,
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...top,
  }),
}

const usage = { input_tokens: 1, output_tokens: 1 }
const anthropic = {
  frames: (
    inside: Json[],
    { start = {}, end = {}, after: later = [] }: { start?: Json; end?: Json; after?: Json[] } = {},
  ): Json[] => [
    typed('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        usage,
        ...start,
      },
    }),
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Here ' } }),
    ...inside,
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'it is.' } }),
    typed('content_block_stop', { index: 0 }),
    ...later,
    typed('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage, ...end }),
    typed('message_stop'),
  ],
  document: (block: Json, top: Json = {}): Json => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Here it is.', ...block }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
    ...top,
  }),
}

type ResponseParts = {
  readonly delta?: Json
  readonly done?: Json
  readonly part?: Json
  readonly item?: Json
  readonly response?: Json
}
const responses = {
  /** Fields that replace or extend those of each event. */
  frames: (
    { delta = {}, done = {}, part = {}, item = {}, response = {} }: ResponseParts,
    ...inside: Json[]
  ): Json[] => {
    const position = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const text = { type: 'output_text', text: 'Here it is.', annotations: [] }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] }
    const whole = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [message],
      usage,
    }
    return [
      typed('response.created', { response: { ...whole, status: 'in_progress', output: [] } }),
      typed('response.output_item.added', {
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      }),
      typed('response.content_part.added', position, { part: { ...text, text: '' } }),
      typed('response.output_text.delta', position, { delta: 'Here ', logprobs: [] }),
      ...inside,
      typed('response.output_text.delta', position, { delta: 'it is.', logprobs: [] }, delta),
      typed('response.output_text.done', position, { text: text.text, logprobs: [] }, done),
      typed('response.content_part.done', position, { part: { ...text, ...part } }),
      typed('response.output_item.done', { output_index: 0, item: { ...message, ...item } }),
      typed('response.completed', { response: { ...whole, ...response } }),
    ]
  },
  document: (part: Json, top: Json = {}): Json => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Here it is.', annotations: [], ...part }],
      },
    ],
    usage,
    ...top,
  }),
}

const tokens = (text: string): Json[] =>
  (text.match(/.{1,3}/gsu) ?? []).map((token) => ({
    token,
    logprob: -1,
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))

const named = (name: string): Json => ({ [name]: 1 })

const blockDelta = (delta: Json): Json => typed('content_block_delta', { index: 0, delta })
const position = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const outputWith = (text: string): Json => ({
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
})

type Way = {
  readonly kind: HttpKind
  readonly label: string
  readonly stream?: (text: string) => Json[]
  readonly whole?: (text: string) => Json
}

/** Every field of an upstream's response whose text is in no event. */
const ways: readonly Way[] = [
  ...['tool_plan', 'thinking', 'audio_note'].map((name): Way => ({
    kind: 'openai-chat',
    label: `delta.${name}`,
    stream: (text) => chat.frames([chat.chunk({ content: '', [name]: text })]),
    whole: (text) => chat.document({ [name]: text }),
  })),
  {
    kind: 'openai-chat',
    label: 'an empty field next to the text',
    stream: (text) => chat.frames([chat.chunk({ content: 'now ', tool_plan: text })]),
  },
  {
    kind: 'openai-chat',
    label: 'executed_tools',
    stream: (text) => chat.frames([chat.chunk({ executed_tools: [{ index: 0, type: 'search', output: text }] })]),
    whole: (text) => chat.document({ executed_tools: [{ index: 0, type: 'search', arguments: '{}', output: text }] }),
  },
  {
    kind: 'openai-chat',
    label: 'search_results of the answer',
    stream: (text) =>
      chat.frames([
        chat.chunk({ content: 'as ' }, {}, { search_results: [{ title: text, url: 'https://example.org' }] }),
      ]),
    whole: (text) => chat.document({}, {}, { search_results: [{ title: text, url: 'https://example.org' }] }),
  },
  {
    kind: 'openai-chat',
    label: 'citations of the answer',
    stream: (text) => chat.frames([chat.chunk({ content: 'as ' }, {}, { citations: ['https://example.org', text] })]),
    whole: (text) => chat.document({}, {}, { citations: ['https://example.org', text] }),
  },
  {
    kind: 'openai-chat',
    label: 'log probabilities',
    stream: (text) =>
      chat.frames([chat.chunk({ content: 'as ' }, { logprobs: { content: tokens(text), refusal: null } })]),
    whole: (text) => chat.document({}, { logprobs: { content: tokens(text), refusal: null } }),
  },
  {
    kind: 'openai-chat',
    label: 'log probabilities of alternatives',
    stream: (text) =>
      chat.frames([
        chat.chunk(
          { content: 'as ' },
          { logprobs: { content: [{ token: 'as ', logprob: -1, top_logprobs: [{ token: text, logprob: -2 }] }] } },
        ),
      ]),
    whole: (text) =>
      chat.document(
        {},
        { logprobs: { content: tokens(text).map((one) => ({ token: 'a', logprob: 0, top_logprobs: [one] })) } },
      ),
  },
  {
    kind: 'openai-chat',
    label: 'bytes of log probabilities',
    whole: (text) =>
      chat.document({}, { logprobs: { content: [{ token: 'as', logprob: -1, bytes: [...Buffer.from(text)] }] } }),
  },
  {
    kind: 'openai-chat',
    label: 'reasoning next to reasoning_content',
    stream: (text) => chat.frames([chat.chunk({ reasoning_content: 'Hm.', reasoning: text })]),
    whole: (text) => chat.document({ reasoning_content: 'Hm.', reasoning: text }),
  },
  {
    kind: 'openai-chat',
    label: 'the transcript of audio',
    stream: (text) => chat.frames([chat.chunk({ audio: { id: 'audio_1', transcript: text } })]),
    whole: (text) => chat.document({ audio: { id: 'audio_1', data: 'AAAA', transcript: text } }),
  },
  {
    kind: 'openai-chat',
    label: 'the usage',
    stream: (text) =>
      chat.frames([], chat.chunk({}, { finish_reason: 'stop' }), {
        ...chat.chunk({}),
        choices: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, note: text },
      }),
    whole: (text) => chat.document({}, {}, { usage: { prompt_tokens: 1, completion_tokens: 1, note: text } }),
  },
  {
    kind: 'openai-chat',
    label: 'the last chunk',
    stream: (text) => chat.frames([], chat.chunk({}, { finish_reason: 'stop', content_filter_note: text })),
    whole: (text) => chat.document({}, { content_filter_note: text }),
  },
  {
    kind: 'openai-chat',
    label: 'a label that contains text',
    stream: (text) => chat.frames([chat.chunk({ content: 'as ' }, {}, { system_fingerprint: text })]),
    whole: (text) => chat.document({}, {}, { system_fingerprint: text }),
  },
  {
    kind: 'openai-chat',
    label: 'a name of a field',
    stream: (text) => chat.frames([chat.chunk({ content: 'as ', ...named(text) })]),
    whole: (text) => chat.document(named(text)),
  },
  {
    kind: 'openai-responses',
    label: 'a name of a field',
    stream: (text) => responses.frames({ delta: named(text) }),
    whole: (text) => responses.document({}, { details: named(text) }),
  },
  {
    kind: 'anthropic',
    label: 'a name of a field',
    stream: (text) => anthropic.frames([], { end: { details: named(text) } }),
    whole: (text) => anthropic.document({}, named(text)),
  },
  {
    kind: 'anthropic',
    label: 'compaction_delta',
    stream: (text) =>
      anthropic.frames([], {
        after: [
          typed('content_block_start', { index: 1, content_block: { type: 'compaction', content: '' } }),
          typed('content_block_delta', { index: 1, delta: { type: 'compaction_delta', content: text } }),
          typed('content_block_stop', { index: 1 }),
        ],
      }),
  },
  {
    kind: 'anthropic',
    label: 'an unknown delta',
    stream: (text) => anthropic.frames([blockDelta({ type: 'other_delta', other: text })]),
    whole: (text) => anthropic.document({ other: text }),
  },
  {
    kind: 'anthropic',
    label: 'a citation',
    stream: (text) =>
      anthropic.frames([
        blockDelta({ type: 'citations_delta', citation: { type: 'char_location', cited_text: text } }),
      ]),
    whole: (text) => anthropic.document({ citations: [{ type: 'char_location', cited_text: text }] }),
  },
  {
    kind: 'anthropic',
    label: 'a field next to the text',
    stream: (text) => anthropic.frames([blockDelta({ type: 'text_delta', text: 'as ', note: text })]),
  },
  {
    kind: 'anthropic',
    label: 'stop_details',
    stream: (text) =>
      anthropic.frames([], {
        end: { delta: { stop_reason: 'end_turn', stop_details: { type: 'refusal', explanation: text } } },
      }),
    whole: (text) => anthropic.document({}, { stop_details: { type: 'refusal', explanation: text } }),
  },
  {
    kind: 'anthropic',
    label: 'a stop sequence that was not requested',
    stream: (text) => anthropic.frames([], { end: { delta: { stop_reason: 'stop_sequence', stop_sequence: text } } }),
    whole: (text) => anthropic.document({}, { stop_reason: 'stop_sequence', stop_sequence: text }),
  },
  {
    kind: 'anthropic',
    label: 'the context that was edited',
    stream: (text) => anthropic.frames([], { end: { context_management: { applied_edits: [{ note: text }] } } }),
    whole: (text) => anthropic.document({}, { context_management: { applied_edits: [{ note: text }] } }),
  },
  {
    kind: 'anthropic',
    label: 'content of the start',
    stream: (text) => anthropic.frames([], { start: { content: [{ type: 'text', text }] } }),
  },
  {
    kind: 'anthropic',
    label: 'a field of the start',
    stream: (text) => anthropic.frames([], { start: { container: { note: text } } }),
    whole: (text) => anthropic.document({}, { container: { note: text } }),
  },
  { kind: 'anthropic', label: 'a ping', stream: (text) => anthropic.frames([typed('ping', { note: text })]) },
  {
    kind: 'anthropic',
    label: 'the end of a block',
    stream: (text) =>
      anthropic.frames([]).map((frame) => (frame['type'] === 'content_block_stop' ? { ...frame, note: text } : frame)),
  },
  {
    kind: 'anthropic',
    label: 'a signature that contains text',
    stream: (text) =>
      anthropic.frames([], {
        after: [
          typed('content_block_start', { index: 1, content_block: { type: 'thinking', thinking: '', signature: '' } }),
          typed('content_block_delta', { index: 1, delta: { type: 'signature_delta', signature: text } }),
          typed('content_block_stop', { index: 1 }),
        ],
      }),
    whole: (text) => anthropic.document({}, { content: [{ type: 'thinking', thinking: 'Hm.', signature: text }] }),
  },
  {
    kind: 'anthropic',
    label: 'redacted thinking that contains text',
    stream: (text) =>
      anthropic.frames([], {
        after: [
          typed('content_block_start', { index: 1, content_block: { type: 'redacted_thinking', data: text } }),
          typed('content_block_stop', { index: 1 }),
        ],
      }),
    whole: (text) => anthropic.document({}, { content: [{ type: 'redacted_thinking', data: text }] }),
  },
  {
    kind: 'anthropic',
    label: 'input of a server tool that is not JSON',
    stream: (text) =>
      anthropic.frames([], {
        after: [
          typed('content_block_start', {
            index: 1,
            content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          }),
          typed('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: text } }),
          typed('content_block_stop', { index: 1 }),
        ],
      }),
  },
  {
    kind: 'openai-responses',
    label: 'another text when it is done',
    stream: (text) => responses.frames({ done: { text } }),
  },
  {
    kind: 'openai-responses',
    label: 'more text when it is done',
    stream: (text) => responses.frames({ done: { text: `Here it is. ${text}` } }),
  },
  {
    kind: 'openai-responses',
    label: 'another part when it is done',
    stream: (text) => responses.frames({ part: { text } }),
  },
  {
    kind: 'openai-responses',
    label: 'another item when it is done',
    stream: (text) => responses.frames({ item: { content: [{ type: 'output_text', text, annotations: [] }] } }),
  },
  {
    kind: 'openai-responses',
    label: 'another output at the end',
    stream: (text) => responses.frames({ response: outputWith(text) }),
  },
  {
    kind: 'openai-responses',
    label: 'a thought at the end',
    stream: (text) =>
      responses.frames({
        response: { output: [{ id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text }] }] },
      }),
  },
  {
    kind: 'openai-responses',
    label: 'a field of the last response',
    stream: (text) => responses.frames({ response: { note: text } }),
    whole: (text) => responses.document({}, { note: text }),
  },
  {
    kind: 'openai-responses',
    label: 'other instructions than the given ones',
    stream: (text) => responses.frames({ response: { instructions: text } }),
    whole: (text) => responses.document({}, { instructions: text }),
  },
  {
    kind: 'openai-responses',
    label: 'a field next to the delta',
    stream: (text) => responses.frames({ delta: { note: text } }),
    whole: (text) => responses.document({ note: text }),
  },
  {
    kind: 'openai-responses',
    label: 'log probabilities',
    stream: (text) => responses.frames({ delta: { logprobs: tokens(text) } }),
    whole: (text) => responses.document({ logprobs: tokens(text) }),
  },
  {
    kind: 'openai-responses',
    label: 'filler that contains text',
    stream: (text) => responses.frames({ delta: { obfuscation: text } }),
  },
  {
    kind: 'openai-responses',
    label: 'an annotation',
    stream: (text) =>
      responses.frames(
        {},
        typed('response.output_text.annotation.added', position, {
          annotation_index: 0,
          annotation: { type: 'url_citation', title: text },
        }),
      ),
    whole: (text) => responses.document({ annotations: [{ type: 'url_citation', title: text }] }),
  },
  {
    kind: 'openai-responses',
    label: 'code of a vendor’s tool',
    stream: (text) =>
      responses.frames(
        {},
        typed('response.code_interpreter_call_code.delta', { item_id: 'msg_1', output_index: 0, delta: text }),
      ),
  },
  {
    kind: 'openai-responses',
    label: 'arguments of a message',
    stream: (text) =>
      responses.frames(
        {},
        typed('response.function_call_arguments.delta', { item_id: 'msg_1', output_index: 0, delta: text }),
      ),
  },
  {
    kind: 'openai-responses',
    label: 'a ciphertext that contains text',
    whole: (text) =>
      responses.document({}, { output: [{ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: text }] }),
  },
]

/** Fields whose text arrives in parts. */
const inPieces: readonly {
  readonly kind: HttpKind
  readonly label: string
  readonly frames: (fragments: readonly string[]) => Json[]
}[] = [
  {
    kind: 'openai-chat',
    label: 'delta.tool_plan',
    frames: (fragments) => chat.frames(fragments.map((tool_plan) => chat.chunk({ content: 'so ', tool_plan }))),
  },
  {
    kind: 'openai-chat',
    label: 'log probabilities',
    frames: (fragments) =>
      chat.frames(
        fragments.map((token) => chat.chunk({ content: 'so ' }, { logprobs: { content: [{ token, logprob: 0 }] } })),
      ),
  },
  {
    kind: 'openai-chat',
    label: 'the second of the alternatives',
    frames: (fragments) =>
      chat.frames(
        fragments.map((token) =>
          chat.chunk(
            { content: 'so ' },
            { logprobs: { content: [{ token: 'so ', logprob: 0, top_logprobs: [{ token: 'so ' }, { token }] }] } },
          ),
        ),
      ),
  },
  {
    kind: 'openai-chat',
    label: 'the transcript of audio',
    frames: (fragments) => chat.frames(fragments.map((transcript) => chat.chunk({ audio: { transcript } }))),
  },
  {
    kind: 'anthropic',
    label: 'an unknown delta',
    frames: (fragments) => anthropic.frames(fragments.map((other) => blockDelta({ type: 'other_delta', other }))),
  },
  {
    kind: 'openai-responses',
    label: 'an unknown event',
    frames: (fragments) =>
      responses.frames({}, ...fragments.map((delta) => typed('response.audio_note.delta', position, { delta }))),
  },
]

const sse = (kind: HttpKind, frames: readonly Json[]): string =>
  frames
    .map(
      (frame) =>
        `${kind === 'openai-chat' ? '' : `event: ${String(frame['type'])}\n`}data: ${JSON.stringify(frame)}\n\n`,
    )
    .join('') + (kind === 'openai-chat' ? 'data: [DONE]\n\n' : '')

const sentence = 'I can not do this anymore. I want to kill myself tonight.'

describe('the out-of-band text of a response', () => {
  const opened = new AsyncDisposableStack()
  let app: TestApp
  let upstreamResponse: string | Json = ''

  before(async () => {
    const upstreams: TestUpstream[] = []
    for (const _ of httpKinds)
      upstreams.push(
        opened.use(
          await startUpstream((response) => {
            const isStream = typeof upstreamResponse === 'string'
            response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
            response.end(isStream ? upstreamResponse : JSON.stringify(upstreamResponse))
          }),
        ),
      )
    const urlOf = (kind: HttpKind): string =>
      `${upstreams[httpKinds.indexOf(kind)]?.url}${kind === 'anthropic' ? '' : '/v1'}`
    app = opened.use(
      await startTestApp({
        config: {
          upstreams: httpKinds.map((kind) => ({ name: kind, kind, base_url: urlOf(kind) })),
          models: httpKinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }] })),
        },
      }),
    )
    const admin = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ rules: { denylist: ['falcon', 'ass'] } })
    const answer = await fetch(`${app.url}/api/policy-gateway/config`, { method: 'PUT', headers: admin, body })
    assert.equal(answer.status, 200, await answer.text())
  })
  after(() => opened.disposeAsync())

  /** The response that a caller gets, by default in the upstream's dialect. */
  async function shown(kind: HttpKind, answer: string | Json, caller = kind): Promise<string> {
    upstreamResponse = answer
    const body = { model: kind, stream: typeof answer === 'string', ...requests[caller] }
    return (await app.post(paths[caller], body)).text()
  }

  const filtered = /"(?:stop_reason|finish_reason|reason)":"(?:refusal|content_filter)"/

  for (const { kind, label, stream, whole } of ways) {
    for (const [form, answer] of [
      ['streamed', stream && ((text: string) => sse(kind, stream(text)))],
      ['whole', whole],
    ] as const) {
      if (answer === undefined) continue
      it(`is evaluated before it is sent: ${kind}, ${label}, ${form}`, async () => {
        for (const text of ['falcon', sentence]) {
          const received = await shown(kind, answer(text))
          assert.match(received, filtered, text)
          assert.doesNotMatch(received, /falcon|myself/i)
        }
        const received = await shown(kind, answer('condor'))
        assert.doesNotMatch(received, filtered)
        assert.match(received, /is\.|Hm|condor/)
      })
    }
  }

  for (const { kind, label, frames } of inPieces) {
    it(`is evaluated as one text if it arrives in parts: ${kind}, ${label}`, async () => {
      for (const fragments of [['the fal', 'con flies'], [...'a falcon'], sentence.match(/.{1,4}/g) ?? []]) {
        const received = await shown(kind, sse(kind, frames(fragments)))
        assert.match(received, filtered, fragments.join('|'))
        assert.doesNotMatch(received, /fal(?!se)|myse/)
      }
      const fragments = [
        'One day, the ass',
        'istant of the con',
        'dor will fly over ',
        'all of us and ',
        'all will be well. '.repeat(20),
        'Bye.',
      ]
      const received = await shown(kind, sse(kind, frames(fragments)))
      assert.doesNotMatch(received, filtered)
      for (const fragment of fragments) assert.ok(received.includes(fragment), fragment)
    })
  }

  it('is evaluated in a duplicate JSON field, and in a frame that is not JSON', async () => {
    const twice = (kind: HttpKind, frames: readonly Json[], from: string): string =>
      sse(kind, frames).replace(from, (found) => `${found.replace(/:.*$/, ': "the falcon flies"')},${found}`)
    const answers: readonly (readonly [kind: HttpKind, answer: string])[] = [
      ['anthropic', twice('anthropic', anthropic.frames([]), '"text":"it is."')],
      ['openai-chat', twice('openai-chat', chat.frames([]), '"content":"it is."')],
      ['openai-responses', twice('openai-responses', responses.frames({}), '"delta":"it is."')],
    ]
    for (const [kind, answer] of answers) {
      assert.match(answer, /falcon/)
      const received = await shown(kind, answer)
      assert.match(received, filtered)
      assert.doesNotMatch(received, /falcon/)
    }
    for (const event of ['ping', 'content_block_delta']) {
      const frames = sse('anthropic', anthropic.frames([typed('ping')]))
      const answer = frames.replace('event: ping\ndata: {"type":"ping"}', `event: ${event}\ndata: [DONE] falcon`)
      assert.match(answer, /falcon/)
      assert.doesNotMatch(await shown('anthropic', answer), /falcon/)
    }
  })

  it('is empty if log probabilities only repeat the text', async () => {
    const tokenFrames = chat.frames([
      chat.chunk({ content: 'as one ' }, { logprobs: { content: tokens('as one '), refusal: null } }),
    ])
    const received = await shown('openai-chat', sse('openai-chat', tokenFrames))
    assert.ok(received.includes(JSON.stringify(tokens('as one '))), received)
  })

  it('is passed through if it is a signature, an id, a URL or an image', async () => {
    const bytes = Buffer.from(Array.from({ length: 900 }, (_, at) => (at * at * 89) % 251)).toString('base64')
    const extraFields = {
      id: 'falcon-7b-4711',
      signature: bytes,
      url: 'https://example.org/falcon',
      images: [`data:image/png;base64,${bytes}`],
    }
    const received = await shown(
      'openai-chat',
      sse('openai-chat', chat.frames([chat.chunk({ content: 'as ', extraFields })])),
    )
    assert.doesNotMatch(received, filtered)
    assert.ok(received.includes(JSON.stringify(extraFields)), received)
  })

  describe('in any field of recorded vendor responses', () => {
    const folder = join(import.meta.dirname, '../../src/adapters/providers')
    const recorded = httpKinds.flatMap((kind) =>
      globSync(`${kind}/fixtures/*.{sse,json}`, { cwd: folder })
        .filter((file) => !file.endsWith('.expected.json'))
        .toSorted()
        .map((file) => ({ kind, file })),
    )

    for (const { kind, file } of recorded) {
      it(`never contains a denied term: ${file}`, async () => {
        const raw = readFileSync(join(folder, file), 'utf8')
        const isStream = file.endsWith('.sse')
        const lines = isStream ? raw.split('\n') : [raw]
        const bodies = lines.map((line): unknown =>
          isStream ? (line.startsWith('data: {') ? JSON.parse(line.slice(6)) : undefined) : JSON.parse(line),
        )
        const nodes = bodies.flatMap((body, line) => placesIn(body).map((path) => ({ line, path })))
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...nodes),
            fc.constantFrom(' falcon ', 'the falcon flies '),
            fc.constantFrom(kind, kind, ...httpKinds),
            async ({ line, path }, word, caller) => {
              const body = changedAt(bodies[line], path, word)
              const answer = isStream
                ? lines.map((one, at) => (at === line ? `data: ${JSON.stringify(body)}` : one)).join('\n')
                : (body as Json)
              assert.doesNotMatch(await shown(kind, answer, caller), /falcon/i, `${caller} ${path.join('.')}`)
            },
          ),
          { numRuns: 12 },
        )
      })
    }
  })
})

type Path = readonly (string | number)[]

/** Every string in a JSON value, and a new field in every object of it. */
function placesIn(value: unknown): Path[] {
  if (typeof value === 'string') return [[]]
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([name, one]) => placesIn(one).map((path) => [name, ...path]))
  return Array.isArray(value) ? inner : [['zz_note'], ...inner]
}

function changedAt(value: unknown, [name, ...rest]: Path, text: string): unknown {
  if (name === undefined) return text
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === name ? changedAt(one, rest, text) : one))
  return { ...(value as Json), [name]: changedAt((value as Json)[name], rest, text) }
}
