import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { callerFormats, type CallerFormat } from '../../src/domain/inference/formats.ts'
import { networkKinds } from '../clients/scripted-upstream.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { sendPrompt, type PromptResult } from './dialects.ts'
import { writeResponse, type UpstreamBlock } from './upstream-response.ts'

type Json = Readonly<Record<string, unknown>>

const sentence = 'I can not do this anymore. I want to kill myself tonight.'

/** The first is the control: an ordinary text field. */
const names = [
  'note',
  'data',
  'signature',
  'image_url',
  'file_data',
  'encrypted_content',
  'encrypted_index',
  'partial_image_b64',
  'url',
  'file_url',
  'metadata',
  'user',
  'thought_signature',
]

const shapes: readonly (readonly [title: string, shape: (name: string, value: unknown) => Json])[] = [
  ['at the top', (name, value) => ({ [name]: value })],
  ['at depth', (name, value) => ({ a: [1, { b: { [name]: [{ [name]: value }] } }] })],
  [
    'in an object that looks like a picture',
    (name, value) => ({ type: 'image', source: { type: 'base64', [name]: value } }),
  ],
  ['in an object that looks like thinking', (name, value) => ({ type: 'thinking', [name]: value })],
]

const user = { role: 'user', content: 'Hello' }
const answered = { role: 'assistant', content: 'Here.' }

/** A request of each dialect with a JSON value in one field. */
const fieldsOf: Readonly<Record<CallerFormat, readonly (readonly [title: string, body: (value: Json) => Json])[]>> = {
  messages: [
    [
      'a tool’s schema',
      (value) => ({ messages: [user], tools: [{ name: 'f', input_schema: { type: 'object', default: value } }] }),
    ],
    [
      'an enum of a tool’s schema',
      (value) => ({
        messages: [user],
        tools: [{ name: 'f', input_schema: { type: 'object', properties: { x: { enum: [value] } } } }],
      }),
    ],
    [
      'a tool’s argument',
      (value) => ({
        messages: [user, { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: value }] }],
      }),
    ],
    [
      'a tool’s result',
      (value) => ({
        messages: [
          user,
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'json_result', value }] }],
          },
        ],
      }),
    ],
    [
      'a tool’s result as text',
      (value) => ({
        messages: [
          user,
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: JSON.stringify(value) }] },
        ],
      }),
    ],
    [
      'a server tool’s argument',
      (value) => ({
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'server_tool_use', id: 't', name: 'f', input: value }] },
        ],
      }),
    ],
    ['a field that only the upstream knows', (value) => ({ messages: [user], documents: [value] })],
    [
      'the format of the answer',
      (value) => ({ messages: [user], output_config: { format: { type: 'json_schema', schema: { default: value } } } }),
    ],
  ],
  chat: [
    [
      'a tool’s schema',
      (value) => ({
        messages: [user],
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', default: value } } }],
      }),
    ],
    [
      'a tool’s argument',
      (value) => ({
        messages: [
          user,
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(value) } }],
          },
        ],
      }),
    ],
    [
      'a free-text tool’s argument',
      (value) => ({
        messages: [
          user,
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: JSON.stringify(value) } }],
          },
        ],
      }),
    ],
    [
      'a tool’s result',
      (value) => ({
        messages: [
          user,
          {
            ...answered,
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: JSON.stringify(value) },
        ],
      }),
    ],
    ['a part of an unknown type', (value) => ({ messages: [{ role: 'user', content: [{ type: 'other', value }] }] })],
    ['a field that only the upstream knows', (value) => ({ messages: [user], documents: [value] })],
    [
      'the format of the answer',
      (value) => ({
        messages: [user],
        response_format: { type: 'json_schema', json_schema: { name: 'o', schema: { default: value } } },
      }),
    ],
  ],
  responses: [
    [
      'a tool’s schema',
      (value) => ({
        input: 'Hello',
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object', default: value } }],
      }),
    ],
    [
      'a tool’s argument',
      (value) => ({
        input: [user, { type: 'function_call', call_id: 'c', name: 'f', arguments: JSON.stringify(value) }],
      }),
    ],
    [
      'a tool’s result',
      (value) => ({ input: [user, { type: 'function_call_output', call_id: 'c', output: JSON.stringify(value) }] }),
    ],
    [
      'an item of a vendor’s tool',
      (value) => ({ input: [user, { type: 'mcp_call', id: 'm', name: 'f', arguments: '{}', output: value }] }),
    ],
    ['a part of an unknown type', (value) => ({ input: [{ role: 'user', content: [{ type: 'other', value }] }] })],
    [
      'the format of the answer',
      (value) => ({ input: 'Hello', text: { format: { type: 'json_schema', name: 'o', schema: { default: value } } } }),
    ],
  ],
}

const paths: Readonly<Record<CallerFormat, string>> = {
  messages: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

const kindOf: Readonly<Record<CallerFormat, (typeof networkKinds)[number]>> = {
  messages: 'anthropic',
  responses: 'openai-responses',
  chat: 'openai-chat',
}

/** Pseudo-random bytes, the same in each run. */
function bytesOf(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 64) }, (_, at) => hash('sha512', `bytes ${at}`, 'buffer'))
  return Buffer.concat(blocks).subarray(0, length)
}

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(200), bytesOf(6_000)])

const binaries: readonly (readonly [title: string, value: string])[] = [
  ['a picture in base64', png.toString('base64')],
  ['a picture in a data URL', `data:image/png;base64,${png.toString('base64')}`],
  ['a signature', bytesOf(400).toString('base64')],
  ['a ciphertext', `gAAAAAB${bytesOf(3_000).toString('base64url')}`],
]

describe('the name of a field', () => {
  const opened = new AsyncDisposableStack()
  const upstreams = new Map<string, TestUpstream>()
  let upstreamResponse: readonly UpstreamBlock[] = []
  let app: TestApp

  before(async () => {
    for (const kind of networkKinds)
      upstreams.set(
        kind,
        opened.use(
          await startUpstream((response, request) => writeResponse(kind, upstreamResponse, { request, response })),
        ),
      )
    const urlOf = (kind: string): string => `${upstreams.get(kind)?.url}${kind.startsWith('openai') ? '/v1' : ''}`
    app = opened.use(
      await startTestApp({
        config: {
          upstreams: networkKinds.map((kind) => ({ name: kind, kind, base_url: urlOf(kind) })),
          models: networkKinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }] })),
        },
      }),
    )
    const admin = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
    const config = { rules: { redact: true, denylist: ['falcon'] } }
    const path = `${app.url}/api/policy-gateway/config`
    const answer = await fetch(path, { method: 'PUT', headers: admin, body: JSON.stringify(config) })
    assert.equal(answer.status, 200, await answer.text())
  })
  after(() => opened.disposeAsync())

  const send = (dialect: CallerFormat, body: Json): Promise<Response> =>
    app.post(paths[dialect], { model: kindOf[dialect], max_tokens: 50, store: false, ...body })

  /** Every name in every shape for the sentence; for other values each name is paired with one shape. */
  const deniedCases = names.flatMap((name, at) => [
    ...shapes.map(([where, shape]) => ({ title: `${name} ${where}`, text: sentence, value: shape(name, sentence) })),
    ...[
      'falcon',
      Buffer.from(sentence).toString('base64'),
      Buffer.from(`${sentence} `.repeat(20)).toString('base64'),
      `data:text/plain,${sentence}`,
    ].map((text, turn) => {
      const [where, shape] = turnOf(shapes, at + turn)
      return { title: `${name} ${where}: ${text.slice(0, 30)}`, text, value: shape(name, text) }
    }),
  ])

  const binaryCases = names.flatMap((name, at) =>
    binaries.map(([what, bytes], turn) => {
      const [where, shape] = turnOf(shapes, at + turn)
      return { title: `${name} ${where}: ${what}`, bytes, value: shape(name, bytes) }
    }),
  )

  for (const dialect of callerFormats) {
    for (const [title, bodyOf] of fieldsOf[dialect]) {
      it(`does not exempt text in ${title} of a request from scanning (${dialect})`, async () => {
        const answers = await Promise.all(deniedCases.map(({ value }) => send(dialect, bodyOf(value))))
        const passed = deniedCases.filter((_, at) => answers[at]?.status !== 400)
        assert.deepEqual(
          passed.map((one) => one.title),
          [],
        )
      })

      it(`does not matter for binary data in ${title} of a request (${dialect})`, async () => {
        upstreamResponse = [{ type: 'text', text: 'Here.' }]
        for (const { title: what, bytes, value } of binaryCases) {
          const answer = await send(dialect, bodyOf(value))
          const content = await answer.text()
          assert.equal(answer.status, 200, `${what} ${content}`)
          assert.doesNotMatch(content, /"policy"/)
          const sent = upstreams.get(kindOf[dialect])?.requests.at(-1)?.body ?? ''
          assert.ok(sent.includes(bytes), what)
        }
      })
    }
  }

  const ways = callerFormats.flatMap((dialect) =>
    [false, true].flatMap((stream) => networkKinds.map((kind) => ({ dialect, stream, kind }))),
  )
  const sendEveryWay = (): Promise<readonly PromptResult[]> =>
    Promise.all(
      ways.map(({ dialect, stream, kind }) => sendPrompt(app, dialect, { model: kind, text: 'Hello', stream })),
    )

  for (const name of names) {
    it(`does not exempt text in a tool call of a response from scanning: ${name}`, async () => {
      for (const { title, text, value } of deniedCases.filter((one) => one.title.startsWith(`${name} `))) {
        upstreamResponse = [{ type: 'tool', name: 'f', input: value }]
        for (const [at, { ending, text: received }] of (await sendEveryWay()).entries())
          assert.deepEqual(
            [ending, received.includes(text)],
            ['filtered', false],
            `${title} ${JSON.stringify(ways[at])}`,
          )
      }
    })

    it(`does not matter for binary data in a tool call of a response: ${name}`, async () => {
      for (const { title, bytes, value } of binaryCases.filter((one) => one.title.startsWith(`${name} `))) {
        upstreamResponse = [{ type: 'tool', name: 'f', input: value }]
        for (const [at, { ending, policy, text }] of (await sendEveryWay()).entries()) {
          const way = `${title} ${JSON.stringify(ways[at])}`
          assert.deepEqual([ending, policy, text.includes(bytes)], ['ended', undefined, true], way)
        }
      }
    })
  }
})

function turnOf<T>(all: readonly T[], turn: number): T {
  const one = all[turn % all.length]
  assert.ok(one)
  return one
}
