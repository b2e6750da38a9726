import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import OpenAI from 'openai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerStream, startUpstream, type TestUpstream } from '../support/upstream.ts'

type Call = { readonly name: string; readonly input: unknown }

/** Which call continues with its next part, by the number of the call. */
type Interleaving = readonly number[]

const calls: readonly Call[] = [
  { name: 'read', input: { path: 'a', deep: { text: 'a "quoted" } bracket' } } },
  { name: 'list', input: {} },
  { name: 'write', input: { path: 'c', lines: [1, 2, 3] } },
]

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const partsOf = (text: string): string[] => text.match(/.{1,7}/gs) ?? []

/** The chunks of all calls. A call starts only after the calls before it. */
function chunksOf(order: Interleaving): object[] {
  const queues = calls.map(({ name, input }, index) => [
    { index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } },
    ...partsOf(JSON.stringify(input)).map((text) => ({ index, function: { arguments: text } })),
  ])
  const deltas: object[] = []
  let started = 0
  const steps = [...order, ...queues.flatMap((queue, at) => queue.map(() => at))]
  for (const step of steps) {
    const at = Math.min(step, started)
    const next = queues[at]?.shift()
    if (next === undefined) continue
    if (at === started) started += 1
    deltas.push(next)
  }
  for (const rest of queues.flat()) deltas.push(rest)
  return [
    chunk({ role: 'assistant', content: '' }),
    ...deltas.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, 'tool_calls'),
  ]
}

describe('parallel calls of a chat upstream in any order of chunks', () => {
  let upstream: TestUpstream
  let app: TestApp
  const answer = (chunks: readonly object[]): void =>
    upstream.answer(answerStream(...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'))
  before(async () => {
    upstream = await startUpstream()
    app = await startTestApp({
      config: {
        upstreams: [{ name: 'chat', kind: 'openai-chat', base_url: `${upstream.url}/v1`, api_key: 'k' }],
        models: [{ name: 'm', targets: [{ upstream: 'chat' }] }],
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const clients: Readonly<Record<string, () => Promise<Call[]>>> = {
    messages: async () => {
      const client = new Anthropic({ baseURL: app.url, apiKey: app.apiKey, maxRetries: 0 })
      const stream = client.messages.stream({
        model: 'm',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Go' }],
      })
      const open = new Set<number>()
      stream.on('streamEvent', (event) => {
        if (event.type === 'content_block_start') {
          assert.equal(open.size, 0, 'a block starts while another one is open')
          open.add(event.index)
        }
        if (event.type === 'content_block_stop') open.delete(event.index)
      })
      const { content } = await stream.finalMessage()
      return content.flatMap((block) => (block.type === 'tool_use' ? { name: block.name, input: block.input } : []))
    },
    responses: async () => {
      const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.apiKey, maxRetries: 0 })
      const stream = client.responses.stream({ model: 'm', input: 'Go' })
      const open = new Set<number>()
      stream.on('response.output_item.added', ({ output_index }) => {
        assert.equal(open.size, 0, 'an item starts while another one is open')
        open.add(output_index)
      })
      stream.on('response.output_item.done', ({ output_index }) => void open.delete(output_index))
      const { output } = await stream.finalResponse()
      return output.flatMap((item) =>
        item.type === 'function_call' ? { name: item.name, input: JSON.parse(item.arguments) } : [],
      )
    },
    chat: async () => {
      const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.apiKey, maxRetries: 0 })
      const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Go' }] })
      const { choices } = await stream.finalChatCompletion()
      return (choices[0]?.message.tool_calls ?? []).flatMap((call) =>
        call.type === 'function' ? { name: call.function.name, input: JSON.parse(call.function.arguments) } : [],
      )
    },
  }

  for (const [dialect, send] of Object.entries(clients)) {
    it(`reach a ${dialect} client as the same calls`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(calls.length - 1), { maxLength: 30 }), async (order) => {
          answer(chunksOf(order))
          assert.deepEqual(await send(), calls)
        }),
        { numRuns: 25, endOnFailure: true },
      )
    })
  }
})
