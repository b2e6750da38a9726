import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { startTestApp } from '../support/app.ts'

const key = 'sk-live-Ab12Cd34Ef56Gh78Ij90Kl'
const message = `Invalid header "authorization: Bearer ${key}" (key sk-l****90Kl)`
const safe = 'Invalid header "authorization: Bearer [secret]" (key [secret])'

const calls: readonly (readonly [path: string, body: object])[] = [
  ['/v1/messages', { max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', { input: 'Hi' }],
]

for (const isStream of [false, true]) {
  it(`an error of an upstream does not repeat its key to callers, ${isStream ? 'in a stream' : 'with status 400'}`, async () => {
    const upstream = createServer((request, response) => {
      request.resume()
      const body = JSON.stringify({ error: { message, type: 'invalid_request_error' } })
      response.writeHead(isStream ? 200 : 400, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? `data: ${body}\n\n` : body)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => upstream.once('listening', resolve))
    try {
      const { port } = upstream.address() as AddressInfo
      await using app = await startTestApp({
        config: {
          upstreams: [{ name: 'far', kind: 'openai-chat', base_url: `http://127.0.0.1:${port}/v1`, api_key: key }],
          models: [{ name: 'm', targets: [{ upstream: 'far', model: 'm' }], price: { input: 0, output: 0 } }],
        },
      })
      for (const [path, body] of calls) {
        const answer = await (await app.post(path, { model: 'm', stream: isStream, ...body })).text()
        assert.ok(answer.includes(JSON.stringify(safe).slice(1, -1)), `${path} answered ${answer}`)
        assert.doesNotMatch(answer, /sk-l|90Kl/)
      }
    } finally {
      upstream.close()
    }
  })
}
