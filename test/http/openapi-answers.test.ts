import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { Compile } from 'typebox/schema'
import { startAdminApp, type AdminApp } from '../support/administration.ts'
import { operationsOf, type DescribedOperation } from '../support/openapi.ts'
import { readFrames } from '../support/sse-server.ts'

/** Headers of HTTP itself, which need no description. */
const general =
  /^(cache-control|connection|content-length|content-type|date|keep-alive|transfer-encoding|vary|x-accel-buffering|x-content-type-options)$/

const message = { model: 'gatehouse-echo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] }
const input = { model: 'gatehouse-echo', input: 'Hello' }
const noKey = { authorization: 'Bearer none' }

type Call = { readonly path: string; readonly body: object; readonly headers?: Record<string, string> }

const calls: readonly Call[] = [
  { path: '/v1/messages', body: message },
  { path: '/v1/messages', body: { ...message, stream: true } },
  { path: '/v1/messages', body: { ...message, max_tokens: 'many' } },
  { path: '/v1/messages', body: message, headers: noKey },
  { path: '/v1/messages/count_tokens', body: message },
  { path: '/v1/messages/count_tokens', body: {} },
  { path: '/v1/chat/completions', body: message },
  { path: '/v1/chat/completions', body: {} },
  { path: '/v1/responses', body: input },
  { path: '/v1/responses', body: { ...input, model: 'none' } },
  { path: '/v1/responses/input_tokens', body: input },
  { path: '/v1/moderations', body: { input: 'Hello' } },
  { path: '/v1/organization/projects', body: { name: 'Support chat' } },
  { path: '/api/policy-gateway/simulate', body: { scenario: { text: 'Hello' } } },
]

describe('the OpenAPI description', async () => {
  const limits = { tiers: { free: { rpm: 1000, rpd: 0, tpm: 100_000, tpd: 0 } } }
  const app = await startAdminApp({ config: { limits } })
  after(() => app[Symbol.asyncDispose]())
  const operations = operationsOf(app.app.openapi(), '/')

  for (const { path, body, headers } of calls) {
    const operation = operationFor(operations, path)
    it(`names every header of ${path} with ${JSON.stringify(headers ?? body).slice(0, 60)}`, async () => {
      const response = await app.post(path, body, headers ?? credentialFor(app, path))
      await response.text()
      const described = (operation.headers[response.status] ?? []).map((name) => name.toLowerCase())
      const undescribed = [...response.headers.keys()].filter(
        (name) => !general.test(name) && !described.includes(name),
      )
      assert.deepEqual(undescribed, [])
    })
  }

  for (const [path, body] of [
    ['/v1/messages', message],
    ['/v1/chat/completions', { ...message, stream_options: { include_usage: true } }],
    ['/v1/responses', input],
  ] as const) {
    it(`describes every event of a stream of ${path}`, async () => {
      const { event } = operationFor(operations, path)
      const response = await app.post(path, { ...body, stream: true })
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      const events = readFrames(await response.text()).filter(({ data }) => data !== '[DONE]')
      assert.ok(events.length > 2)
      const schema = Compile(event ?? false)
      for (const { data } of events) assert.deepEqual(schema.Errors(JSON.parse(data))[1], [], data)
    })
  }

  it('shows the problems of a token count', async () => {
    const { answers } = operationFor(operations, '/v1/messages/count_tokens')
    const response = await app.post('/v1/messages/count_tokens', { model: 7 })
    assert.equal(response.status, 422)
    assert.deepEqual(Compile(answers['422'] ?? false).Errors(await response.json())[1], [])
    assert.ok(answers['400'] && answers['408'])
  })

  it('names the address that is configured', async () => {
    const relative = app.app.openapi() as { servers: unknown }
    assert.deepEqual(relative.servers, [{ url: '/', description: 'This gateway.' }])
    const server = { public_url: 'https://gateway.example.com' }
    await using other = await startAdminApp({ config: { server } })
    const { servers } = other.app.openapi() as { servers: unknown }
    assert.deepEqual(servers, [{ url: 'https://gateway.example.com', description: 'This gateway.' }])
  })
})

function operationFor(operations: readonly DescribedOperation[], path: string): DescribedOperation {
  const found = operations.find((each) => each.path === path && each.method === 'POST')
  assert.ok(found, path)
  return found
}

const credentialFor = ({ adminKey, apiKey }: AdminApp, path: string): Record<string, string> => ({
  authorization: `Bearer ${path.startsWith('/v1/organization') || path.startsWith('/api/') ? adminKey : apiKey}`,
})
