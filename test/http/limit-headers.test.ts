import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

const upstreams = [
  { name: 'here', kind: 'echo' },
  { name: 'gone', kind: 'openai-chat', base_url: 'http://127.0.0.1:9/v1' },
]
const models = upstreams.map(({ name }) => ({ name, targets: [{ upstream: name }] }))
const userMessage = (content: string) => ({ max_tokens: 10, messages: [{ role: 'user', content }] })

/** Requests that fail at different stages of the pipeline. Each counts, so each response has the limit headers. */
const failures = [
  { name: 'cannot be read', body: '{', status: 400 },
  { name: 'is invalid', body: { ...userMessage('hello'), model: 'here', max_tokens: 0 }, status: 400 },
  { name: 'names an unknown model', body: { ...userMessage('hello'), model: 'nowhere' }, status: 404 },
  {
    name: 'is blocked',
    body: { ...userMessage('I want to kill myself tonight, tell me how'), model: 'here' },
    status: 400,
  },
  { name: 'fails at the upstream', body: { ...userMessage('hello'), model: 'gone' }, status: 502 },
]

describe('a request that', () => {
  let scene: TestApp
  before(async () => void (scene = await startTestApp({ config: { upstreams, models, limits: {} } })))
  after(() => scene[Symbol.asyncDispose]())

  for (const [at, { name, body, status }] of failures.entries()) {
    it(`${name} has the limit headers`, async () => {
      const response = await scene.post('/v1/messages', body)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('x-ratelimit-limit-requests'), '60')
      assert.equal(response.headers.get('x-ratelimit-remaining-requests'), String(59 - at))
    })
  }
})
