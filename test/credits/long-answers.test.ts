import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import {
  inferenceEndpoints,
  send,
  type InferenceEndpoint,
  type InferenceEndpointName,
} from '../support/inference-endpoints.ts'
import { endlessStream, kinds, wholeAnswer, type Kind } from '../support/long-answers.ts'
import { operatorOf } from '../support/operator.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

/** Harmless, so that text is sent as it arrives. */
const prompt = 'What is the weather like in Paris in May?'
const words = 'It is mild in May. '
const maxTokens = 20
const starting = 2_000

const dialects = ['messages', 'responses', 'chat'] as const satisfies readonly InferenceEndpointName[]

const limitField = { messages: 'max_tokens', responses: 'max_output_tokens', chat: 'max_tokens' }
/** What each dialect says of an answer that reached its output limit. */
const lengthMarks = {
  messages: /"stop_reason":"max_tokens"/,
  responses: /"incomplete_details":\{"reason":"max_output_tokens"\}/,
  chat: /"finish_reason":"length"/,
}

describe('an answer that ignores its output limit', () => {
  const upstreams = new Map<Kind, TestUpstream>()
  let app: TestApp
  before(async () => {
    for (const kind of kinds) upstreams.set(kind, await startUpstream())
    const price = { input: 1_000, output: 1_000 }
    app = await startTestApp({
      config: {
        credits: { starting },
        upstreams: kinds.map((kind) => ({
          name: kind,
          kind,
          base_url: `${upstreams.get(kind)?.url}${kind === 'anthropic' ? '' : '/v1'}`,
        })),
        models: kinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }], price })),
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    for (const upstream of upstreams.values()) await upstream[Symbol.asyncDispose]()
  })

  /** Asks with a fresh balance. Returns the answer and what it cost. */
  async function ask(dialect: (typeof dialects)[number], kind: Kind, stream: boolean) {
    const operator = operatorOf(app.app)
    const atStart = await operator.balance()
    const endpoint: InferenceEndpoint = inferenceEndpoints[dialect]
    const fields = { model: kind, stream, [limitField[dialect]]: maxTokens }
    const { status, text } = await send(app, endpoint, { body: endpoint.bodyOf(prompt, fields) })
    const atEnd = await operator.balance()
    const cost = atStart.remaining_credits - atEnd.remaining_credits
    await operator.grant({ credits: starting - atEnd.remaining_credits })
    return { status, text, cost, remaining: atEnd.remaining_credits }
  }

  for (const kind of kinds)
    for (const dialect of dialects) {
      it(`ends for its length, and its ${kind} upstream call with it, as a stream of ${dialect}`, async () => {
        const upstream = upstreams.get(kind)
        upstream?.answer(endlessStream(kind, words))
        const { status, text, cost, remaining } = await ask(dialect, kind, true)
        assert.equal(status, 200)
        assert.match(text, lengthMarks[dialect])
        assert.match(text, /mild in May/)
        assert.ok(text.length < 400_000, `${text.length} characters`)
        assert.equal(await upstream?.requests.at(-1)?.hungUp, true)
        assert.ok(cost > maxTokens && cost <= 100, `${cost} credits`)
        assert.ok(remaining >= 0)
      })

      it(`is cut for its length if the ${kind} upstream sends it whole to a caller of ${dialect}`, async () => {
        upstreams.get(kind)?.answer(wholeAnswer(kind, words.repeat(20_000)))
        const { status, text, cost } = await ask(dialect, kind, false)
        assert.equal(status, 200, text)
        assert.match(text, lengthMarks[dialect])
        assert.match(text, /mild in May/)
        assert.ok(text.length < 10_000, `${text.length} characters`)
        assert.ok(cost > maxTokens && cost <= 100, `${cost} credits`)
      })
    }

  it('leaves a balance that is just enough for the request at zero, not below', async () => {
    upstreams.get('openai-chat')?.answer(endlessStream('openai-chat', words))
    const { cost } = await ask('chat', 'openai-chat', true)
    const operator = operatorOf(app.app)
    const { remaining_credits: remaining } = await operator.balance()
    const fields = { model: 'openai-chat', max_tokens: remaining - cost + maxTokens, stream: true }
    const answer = await send(app, inferenceEndpoints.chat, { body: inferenceEndpoints.chat.bodyOf(prompt, fields) })
    assert.equal(answer.status, 200)
    assert.equal((await operator.balance()).remaining_credits, 0)
    await operator.grant({ credits: 7 })
    assert.equal((await operator.balance()).remaining_credits, 7, 'a debt would have taken some of the grant')
  })
})
