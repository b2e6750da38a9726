import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { operatorOf } from '../support/operator.ts'
import { answerJson, startUpstream, type TestUpstream } from '../support/upstream.ts'

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  // Plausible only if the request had no limit.
  usage: { prompt_tokens: 3, completion_tokens: 30_000, total_tokens: 30_003 },
}

describe('the output limit that reaches a chat upstream', () => {
  let upstream: TestUpstream
  let app: TestApp
  before(async () => {
    upstream = await startUpstream(answerJson(completion))
    const targets = [{ upstream: 'up' }]
    app = await startTestApp({
      config: {
        upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [
          { name: 'free', targets },
          { name: 'capped', targets, max_output_tokens: 1000 },
          { name: 'priced', targets, price: { input: 0.001, output: 0.001 } },
        ],
      },
    })
    await operatorOf(app.app).grant({ credits: 1_000_000 })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const limitFor = async (model: string, more: object = {}): Promise<unknown> => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const answer = await app.post('/v1/chat/completions', { model, messages, ...more })
    assert.equal(answer.status, 200, await answer.text())
    const body = JSON.parse(upstream.requests.at(-1)?.body ?? '')
    return body.max_completion_tokens ?? body.max_tokens
  }

  it('is none if neither the caller nor the operator set one, and the answer has no price', async () => {
    assert.equal(await limitFor('free'), undefined)
  })

  it('is the caller’s, at most the operator’s', async () => {
    assert.equal(await limitFor('free', { max_tokens: 20_000 }), 20_000)
    assert.equal(await limitFor('capped', { max_tokens: 20 }), 20)
    assert.equal(await limitFor('capped', { max_tokens: 20_000 }), 1000)
    assert.equal(await limitFor('capped'), 1000)
  })

  it('is the default of the gateway if the answer costs credits, because a request holds no more than that', async () => {
    assert.equal(await limitFor('priced'), 8192)
  })

  it('is raised for reasoning if it is the default, and not if it is the operator’s', async () => {
    assert.equal(await limitFor('priced', { reasoning_effort: 'high' }), 8192 + 16_384)
    assert.equal(await limitFor('capped', { reasoning_effort: 'high' }), 1000)
    assert.equal(await limitFor('priced', { reasoning_effort: 'high', max_tokens: 500 }), 500)
  })

  it('does not bound the tokens that the upstream reports if there is none', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const answer = await app.post('/v1/chat/completions', { model: 'free', messages })
    const { usage } = (await answer.json()) as { usage: { completion_tokens: number } }
    assert.equal(usage.completion_tokens, 30_000)
  })
})
