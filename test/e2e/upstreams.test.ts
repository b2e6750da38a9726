import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { Script, TestUpstream } from '../support/upstream.ts'
import { answerJson, cutStream, startUpstream } from '../support/upstream.ts'

const providers = join(import.meta.dirname, '../../src/adapters/providers')
const kinds = ['anthropic', 'openai-chat', 'openai-responses'] as const
type Kind = (typeof kinds)[number]

const recording = (kind: Kind, name: string): Buffer => readFileSync(join(providers, kind, 'fixtures', name))

/** Responds with the recording, as a stream if the request asks for one. */
const replay =
  (kind: Kind, name: string): Script =>
  (response, { body }) => {
    const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    response.end(recording(kind, `${name}.${isStream ? 'sse' : 'json'}`))
  }

/** The result for a caller, independent of the SDK. */
type Seen = { readonly text: string; readonly calls: readonly [name: string, input: unknown][]; readonly stop: unknown }

const wanted: Omit<Seen, 'stop'> = {
  text: 'Reading both.',
  calls: [
    ['read', { path: 'a' }],
    ['read', { path: 'b' }],
  ],
}

const schema = { type: 'object' as const, properties: { path: { type: 'string' as const } } }

async function messages(scene: TestApp, model: string, isStream: boolean): Promise<Seen> {
  const anthropic = new Anthropic({ baseURL: scene.url, apiKey: scene.apiKey, maxRetries: 0 })
  const params = {
    model,
    max_tokens: 99,
    messages: [{ role: 'user' as const, content: 'go' }],
    tools: [{ name: 'read', input_schema: schema }],
  }
  const message = isStream
    ? await anthropic.messages.stream(params).finalMessage()
    : await anthropic.messages.create(params)
  return {
    text: message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    calls: message.content.flatMap((block) =>
      block.type === 'tool_use' ? [[block.name, block.input] as [string, unknown]] : [],
    ),
    stop: message.stop_reason,
  }
}

async function chat(scene: TestApp, model: string, isStream: boolean): Promise<Seen> {
  const openai = new OpenAI({ baseURL: `${scene.url}/v1`, apiKey: scene.apiKey, maxRetries: 0 })
  const tools = [{ type: 'function' as const, function: { name: 'read', parameters: schema } }]
  const params = { model, messages: [{ role: 'user' as const, content: 'go' }], tools }
  const completion = isStream
    ? await openai.chat.completions.stream(params).finalChatCompletion()
    : await openai.chat.completions.create(params)
  const [choice] = completion.choices
  return {
    text: choice?.message.content ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [[call.function.name, JSON.parse(call.function.arguments)] as [string, unknown]] : [],
    ),
    stop: choice?.finish_reason,
  }
}

async function responses(scene: TestApp, model: string, isStream: boolean): Promise<Seen> {
  const openai = new OpenAI({ baseURL: `${scene.url}/v1`, apiKey: scene.apiKey, maxRetries: 0 })
  const tools = [{ type: 'function' as const, name: 'read', parameters: schema, strict: false }]
  const params = { model, input: 'go', tools }
  const response = isStream
    ? await openai.responses.stream(params).finalResponse()
    : await openai.responses.create(params)
  return {
    text: response.output_text,
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? [[item.name, JSON.parse(item.arguments)] as [string, unknown]] : [],
    ),
    stop: response.status,
  }
}

const endpoints = { messages, chat, responses }
const stops = { messages: 'tool_use', chat: 'tool_calls', responses: 'completed' }

describe('every endpoint with every kind of upstream', () => {
  const upstreams = new Map<Kind, TestUpstream>()
  let scene: TestApp

  before(async () => {
    for (const kind of kinds) upstreams.set(kind, await startUpstream(replay(kind, 'parallel-tools')))
    scene = await startTestApp({
      config: {
        upstreams: kinds.map((kind) => ({
          name: kind,
          kind,
          base_url: `${upstreams.get(kind)?.url ?? ''}/v1`,
          api_key: 'secret',
        })),
        models: kinds.map((kind) => ({ name: `model-${kind}`, targets: [{ upstream: kind, model: 'm' }] })),
      },
    })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    for (const upstream of upstreams.values()) await upstream[Symbol.asyncDispose]()
  })

  for (const kind of kinds) {
    for (const endpoint of ['messages', 'chat', 'responses'] as const) {
      for (const isStream of [false, true]) {
        it(`returns the text and both tool calls to ${endpoint} from ${kind}, ${isStream ? 'streamed' : 'whole'}`, async () => {
          upstreams.get(kind)?.answer(replay(kind, 'parallel-tools'))
          assert.deepEqual(await endpoints[endpoint](scene, `model-${kind}`, isStream), {
            ...wanted,
            stop: stops[endpoint],
          })
        })
      }

      it(`reports a broken stream of ${kind} to ${endpoint}, however much had arrived`, async () => {
        const bytes = recording(kind, 'parallel-tools.sse')
        for (const share of [0.2, 0.5, 0.9]) {
          upstreams.get(kind)?.answer(cutStream(bytes.subarray(0, Math.floor(bytes.length * share))))
          await assert.rejects(endpoints[endpoint](scene, `model-${kind}`, true))
        }
      })

      it(`passes the error of ${kind} on to ${endpoint}`, async () => {
        upstreams.get(kind)?.answer(answerJson({ error: { message: 'max_tokens is far too high' } }, 400))
        await assert.rejects(endpoints[endpoint](scene, `model-${kind}`, true), /max_tokens is far too high/)
      })
    }
  }

  const lastBody = (kind: Kind): string => upstreams.get(kind)?.requests.at(-1)?.body ?? ''

  it('lets a caller of messages return the reasoning of a responses upstream', async () => {
    upstreams.get('openai-responses')?.answer(replay('openai-responses', 'parallel-tools'))
    const anthropic = new Anthropic({ baseURL: scene.url, apiKey: scene.apiKey, maxRetries: 0 })
    const params = { model: 'model-openai-responses', max_tokens: 99, thinking: { type: 'adaptive' as const } }
    const first = [{ role: 'user' as const, content: 'go' }]
    const { content } = await anthropic.messages.create({ ...params, messages: first })
    const results = content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'x' }] : [],
    )
    await anthropic.messages.create({
      ...params,
      messages: [...first, { role: 'assistant', content }, { role: 'user', content: results }],
    })
    assert.match(lastBody('openai-responses'), /"type":"reasoning",[^}]*\}\],"encrypted_content":"gAAAAB=="/)
  })

  it('lets a caller of responses return the reasoning of a messages upstream', async () => {
    upstreams.get('anthropic')?.answer(replay('anthropic', 'parallel-tools'))
    const openai = new OpenAI({ baseURL: `${scene.url}/v1`, apiKey: scene.apiKey, maxRetries: 0 })
    const params = { model: 'model-anthropic', store: false, include: ['reasoning.encrypted_content' as const] }
    const first = [{ role: 'user' as const, content: 'go' }]
    const { output } = await openai.responses.create({ ...params, input: first })
    const results = output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'x' }]
        : [],
    )
    const items = output as OpenAI.Responses.ResponseInputItem[]
    await openai.responses.create({ ...params, input: [...first, ...items, ...results] })
    assert.match(
      lastBody('anthropic'),
      /"type":"thinking","thinking":"Two files, two reads.","signature":"EqQBCgIYAhIM=="/,
    )
  })
})

describe('an upstream that differs from its kind', () => {
  it('is called as its configuration says', async () => {
    await using upstream = await startUpstream(answerJson(JSON.parse(String(recording('openai-chat', 'text.json')))))
    const differing = { takes_reasoning: true, streams: false, takes_effort: true }
    await using scene = await startTestApp({
      config: {
        upstreams: [{ name: 'local', kind: 'openai-chat', base_url: upstream.url, ...differing }],
        models: [{ name: 'm', targets: [{ upstream: 'local' }] }],
      },
    })
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: '' }
    const answer = await scene.post('/v1/messages', {
      model: 'm',
      max_tokens: 99,
      stream: true,
      output_config: { effort: 'low' },
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [thinking, { type: 'text', text: 'Went.' }] },
        { role: 'user', content: 'on' },
      ],
    })
    assert.match(await answer.text(), /event: message_stop/)
    const params = JSON.parse(upstream.requests[0]?.body ?? '')
    assert.partialDeepStrictEqual(params, { stream: false, reasoning_effort: 'low' })
    assert.equal(params.messages[1].reasoning_content, 'Hm.')
  })
})
