import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client, request } from 'undici'
import { startTestApp, type TestApp } from '../support/app.ts'
import { parseExchange, sendRaw } from '../support/inference-endpoints.ts'

/** Unknown paths and methods are rejected in the error format of the family of the path. */
type Scenario = {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly status: number
  readonly allow?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly title: object
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a path below messages',
    path: '/v1/messages/nothing',
    status: 404,
    title: { type: 'error', error: { type: 'not_found_error' } },
  },
  { name: 'below responses', path: '/v1/responses/a/b/c', status: 404, title: { code: 'unknown_route' } },
  { name: 'below chat', path: '/v1/chat/nothing', status: 404, title: { error: { code: 'unknown_route' } } },
  {
    name: 'the compaction of a conversation, which is not offered,',
    method: 'POST',
    path: '/v1/responses/compact',
    status: 404,
    title: {
      code: 'unknown_route',
      error: 'Gatehouse does not offer the compaction of conversations. Send a shorter input.',
    },
  },
  {
    name: 'files, which are not offered,',
    method: 'POST',
    path: '/v1/files',
    status: 404,
    title: {
      error: {
        type: 'invalid_request_error',
        code: 'unknown_route',
        message: 'Gatehouse does not offer the storage of files. Send the content in the request itself.',
      },
    },
  },
  {
    name: 'a vector store, which is not offered,',
    path: '/v1/vector_stores/vs_1/files',
    status: 404,
    title: {
      error: {
        code: 'unknown_route',
        message: 'Gatehouse does not offer vector stores. Send the content in the request itself.',
      },
    },
  },
  {
    name: 'message batches, which are not offered,',
    method: 'POST',
    path: '/v1/messages/batches',
    status: 404,
    title: {
      type: 'error',
      error: {
        type: 'not_found_error',
        message: 'Gatehouse does not offer message batches. Send the requests one by one.',
      },
    },
  },
  {
    name: 'files of Anthropic, which are not offered,',
    path: '/v1/files',
    headers: { 'anthropic-version': '2023-06-01' },
    status: 404,
    title: {
      type: 'error',
      error: {
        type: 'not_found_error',
        message: 'Gatehouse does not offer the storage of files. Send the content in the request itself.',
      },
    },
  },
  {
    name: 'a path that only begins like one that is not offered',
    path: '/v1/filesystem',
    status: 404,
    title: { error: { code: 'unknown_route', message: 'No route for GET /v1/filesystem.' } },
  },
  {
    name: 'a path below the administration',
    path: '/v1/organization/nothing',
    status: 404,
    title: { error: { type: 'not_found_error', code: 'unknown_route' } },
  },
  {
    name: 'any other path',
    path: '/nothing',
    status: 404,
    title: { error: { type: 'not_found_error', code: 'unknown_route' } },
  },
  {
    name: 'the models with POST',
    method: 'POST',
    path: '/v1/models',
    status: 405,
    allow: 'GET',
    title: { error: { code: 'method_not_allowed' } },
  },
  {
    name: 'the check of a policy with PUT, without the methods of a policy',
    method: 'PUT',
    path: '/v1/organization/policies/check',
    status: 405,
    allow: 'POST',
    title: { error: { code: 'method_not_allowed' } },
  },
  ...['QUERY', 'PROPFIND', 'M-SEARCH', 'PURGE', 'TRACE'].flatMap((method) => [
    {
      name: `a policy with ${method}, by an id with letters of several bytes`,
      method,
      path: `/v1/organization/policies/${encodeURIComponent('ä/b')}?x=1`,
      status: 405,
      allow: 'GET, PATCH, DELETE',
      title: { error: { code: 'method_not_allowed' } },
    },
    {
      name: `an unknown path with ${method}`,
      method,
      path: '/v1/organization/nothing',
      status: 404,
      title: { error: { code: 'unknown_route' } },
    },
  ]),
  { name: 'a path that is no path', path: '/v1/messages/%E0%A4%A', status: 400, title: { type: 'error' } },
]

const upgradeTo = (protocol: string, path: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    'host: x',
    `upgrade: ${protocol}`,
    'connection: Upgrade, close',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version: 13',
    '',
    '',
  ].join('\r\n')

describe('a request to', () => {
  let scene: TestApp
  before(async () => {
    scene = await startTestApp()
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const { name, method = 'GET', path, headers = {}, status, allow, title } of scenarios) {
    it(`${name} is rejected with ${status}`, async () => {
      const response = await request(scene.url + path, { method, headers })
      assert.equal(response.statusCode, status)
      assert.match(String(response.headers['x-request-id']), /^req_/)
      assert.equal(response.headers['allow'], allow)
      assert.partialDeepStrictEqual(await response.body.json(), title)
    })
  }
  it('a path with another method is rejected because of the method, whatever its body is', async () => {
    const body = 'no JSON'
    const headers = { 'content-type': 'text/plain' }
    const answer = await request(`${scene.url}/v1/messages`, { method: 'QUERY', body, headers })
    assert.equal(answer.statusCode, 405)
    await answer.body.dump()
    const lost = await request(`${scene.url}/nothing`, { method: 'POST', body, headers })
    assert.equal(lost.statusCode, 404)
    await lost.body.dump()
  })
  it('an unknown path without a body keeps its connection', async () => {
    const client = new Client(scene.url)
    let connections = 0
    client.on('connect', () => connections++)
    for (const path of ['/nothing', '/v1/models', '/v1/messages']) {
      const answer = await client.request({ method: 'GET', path })
      assert.notEqual(answer.headers['connection'], 'close')
      await answer.body.dump()
    }
    await client.close()
    assert.equal(connections, 1)
  })
  it('any path that asks for a WebSocket is rejected with 426, so that the client uses plain HTTP', async () => {
    for (const path of ['/v1/responses', '/v1/realtime', '/nothing']) {
      const answer = parseExchange(await sendRaw(scene, upgradeTo('websocket', path)))
      assert.equal(answer.status, 426)
      assert.equal(answer.headers['x-gatehouse-error-code'], 'upgrade_not_supported')
      assert.match(answer.text, /WebSocket/)
    }
  })
  it('a path that offers another protocol is answered in this one', async () => {
    assert.equal(parseExchange(await sendRaw(scene, upgradeTo('h2c', '/health/live'))).status, 200)
  })
  it('the greeting that Claude Code sends first is answered, also for HEAD', async () => {
    assert.equal((await fetch(`${scene.url}/api/hello`, { method: 'HEAD' })).status, 200)
    assert.deepEqual(await (await fetch(`${scene.url}/api/hello`)).json(), { message: 'hello' })
  })
  it('the root is answered, also for HEAD', async () => {
    assert.equal((await fetch(scene.url, { method: 'HEAD' })).status, 200)
  })
  it('the metrics counts by pattern, never by path', async () => {
    await fetch(`${scene.url}/v1/responses/resp_secret`)
    const text = await (await fetch(`${scene.url}/metrics`)).text()
    assert.match(text, /gatehouse_http_request_seconds_count\{route="\/v1\/responses\/:response_id",status="4xx"\} \d/)
    assert.doesNotMatch(text, /resp_secret/)
  })
})
