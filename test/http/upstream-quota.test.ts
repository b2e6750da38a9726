import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, answerStream, startUpstream, type TestUpstream } from '../support/upstream.ts'

const bodies = {
  '/v1/messages': { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { input: 'Hi' },
} as const

const exhausted = {
  error: { message: 'Quota of sk-secret exceeded.', type: 'insufficient_quota', code: 'insufficient_quota' },
}

const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}

describe('an upstream', () => {
  let empty: TestUpstream
  let working: TestUpstream
  let anthropic: TestUpstream
  let app: TestApp
  before(async () => {
    empty = await startUpstream(answerJson(exhausted, 429, { 'retry-after': '3' }))
    working = await startUpstream(answerJson(completion))
    anthropic = await startUpstream()
    const kind = 'openai-chat'
    app = await startTestApp({
      config: {
        upstreams: [
          { name: 'empty', kind, base_url: empty.url },
          { name: 'alone', kind, base_url: empty.url },
          { name: 'working', kind, base_url: working.url },
          { name: 'anthropic', kind: 'anthropic', base_url: anthropic.url },
        ],
        models: [
          { name: 'alone', targets: [{ upstream: 'alone' }] },
          { name: 'both', targets: [{ upstream: 'empty' }, { upstream: 'working' }] },
          { name: 'anthropic', targets: [{ upstream: 'anthropic' }] },
        ],
      },
    })
  })
  after(async () => {
    for (const server of [app, empty, working, anthropic]) await server[Symbol.asyncDispose]()
  })

  for (const [path, body] of Object.entries(bodies)) {
    it(`without quota is named as the cause at ${path}, and the call is not repeated`, async () => {
      const earlier = empty.requests.length
      const answer = await app.post(path, { model: 'alone', ...body })
      const text = await answer.text()
      assert.deepEqual(
        [answer.status, answer.headers.get('x-should-retry'), answer.headers.get('retry-after')],
        [502, 'false', null],
      )
      assert.match(text, /account at the model’s upstream is out of quota/)
      assert.doesNotMatch(text, /sk-secret/)
      assert.equal(empty.requests.length, earlier + 1)
    })

    it(`that starts a second message in its stream causes an error at ${path}`, async () => {
      const started = (id: string) => ({
        type: 'message_start',
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 3, output_tokens: 0 },
        },
      })
      const text = (index: number, words: string) => [
        { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index, delta: { type: 'text_delta', text: words } },
        { type: 'content_block_stop', index },
      ]
      const events = [started('msg_1'), ...text(0, 'One'), started('msg_2'), ...text(0, 'Two')]
      anthropic.answer(
        answerStream(...events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)),
      )
      const answer = await app.post(path, { model: 'anthropic', stream: true, ...body })
      const received = await answer.text()
      assert.match(received, /second message/)
      assert.doesNotMatch(received, /Two|message_stop|response\.completed|"finish_reason":"stop"/)
    })
  }

  it('without quota is skipped at once while another target works', async () => {
    for (let at = 0; at < 3; at++) {
      const answer = await app.post('/v1/chat/completions', { model: 'both', ...bodies['/v1/chat/completions'] })
      assert.equal(answer.status, 200)
    }
    assert.equal(working.requests.length, 3)
    assert.equal(empty.requests.filter(({ body }) => body.includes('"both"')).length, 1)
  })
})
