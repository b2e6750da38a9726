import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

const model = 'gatehouse-echo'
const messages = [{ role: 'user', content: 'Hello' }]

const requests: readonly (readonly [name: string, path: string, status: number, body?: object])[] = [
  ['a message', '/v1/messages', 200, { model, max_tokens: 9, messages }],
  ['a rejected message', '/v1/messages', 400, { model, max_tokens: -1, messages }],
  ['a response', '/v1/responses', 200, { model, input: 'Hello' }],
  ['a rejected response', '/v1/responses', 404, { model: 'none', input: 'Hello' }],
  ['a completion', '/v1/chat/completions', 200, { model, messages }],
  ['a rejected completion', '/v1/chat/completions', 400, { model }],
  ['a count', '/v1/messages/count_tokens', 200, { model, messages }],
  ['a moderation', '/v1/moderations', 200, { input: 'Hello' }],
  ['the models', '/v1/models', 200],
  ['the credits', '/v1/credits', 200],
  ['the gateway configuration', '/api/policy-gateway/config', 200],
  ['an administrator that is none', '/v1/organization/policies', 401],
  ['the health', '/health/ready', 200],
  ['nothing', '/nothing', 404],
  ['a message that is read', '/v1/messages', 405],
]

describe('the headers of', () => {
  let scene: TestApp
  before(async () => {
    scene = await startTestApp()
  })
  after(() => scene[Symbol.asyncDispose]())

  const shown = ({ headers }: Response) => [headers.get('cache-control'), headers.get('x-content-type-options')]

  for (const [name, path, status, body] of requests) {
    it(`${name} forbid caching and content sniffing`, async () => {
      const answer = await (body === undefined ? scene.get(path) : scene.post(path, body))
      assert.equal(answer.status, status)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
      assert.deepEqual(shown(answer), ['no-store', 'nosniff'])
      await answer.text()
    })
  }

  it('a stream forbid transformation and caching', async () => {
    const answer = await scene.post('/v1/messages', { model, max_tokens: 9, messages, stream: true })
    assert.deepEqual(shown(answer), ['no-cache, no-transform', 'nosniff'])
    await answer.text()
  })

  it('the response to invalid HTTP are the same', async () => {
    const socket = connect(Number(new URL(scene.url).port), '127.0.0.1')
    socket.write('nonsense\r\n\r\n')
    const response = await text(socket)
    assert.match(response, /\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n/)
  })

  it('the OpenAPI description and the reference allow caching', async () => {
    assert.deepEqual(shown(await scene.get('/openapi.json')), ['no-cache', 'nosniff'])
    assert.deepEqual(shown(await scene.get('/docs')), ['no-cache', 'nosniff'])
    assert.deepEqual(shown(await scene.get('/metrics')), [null, 'nosniff'])
  })
})
