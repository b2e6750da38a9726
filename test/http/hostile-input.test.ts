import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { rawHead, sendRaw } from '../support/inference-endpoints.ts'

type Body = { error: { code?: string; request_id?: string } }

describe('hostile input', () => {
  let scene: TestApp
  let impatient: TestApp
  before(async () => {
    scene = await startTestApp()
    impatient = await startTestApp({ config: { server: { request_timeout_ms: 400 } } })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    await impatient[Symbol.asyncDispose]()
  })

  const head = (path: string, lines: readonly string[] = []): string => rawHead(scene, { path }, lines)

  it('closes a connection whose headers do not arrive in time', async () => {
    assert.match(
      await sendRaw(impatient, 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: ', { staysOpen: true }),
      /^HTTP\/1\.1 408 |^$/,
    )
  })
  it('rejects a Content-Length together with chunked encoding, and two Content-Lengths', async () => {
    assert.match(
      await sendRaw(scene, `${head('/v1/messages', ['content-length: 2', 'transfer-encoding: chunked'])}0\r\n\r\n`),
      /^HTTP\/1\.1 400 /,
    )
    assert.match(
      await sendRaw(scene, `${head('/v1/messages', ['content-length: 2', 'content-length: 3'])}{}`),
      /^HTTP\/1\.1 400 /,
    )
  })
  it('rejects folded headers and line breaks in values', async () => {
    assert.match(
      await sendRaw(scene, head('/v1/messages', ['x-a: 1\r\n continued', 'content-length: 0'])),
      /^HTTP\/1\.1 400 /,
    )
    assert.match(await sendRaw(scene, head('/v1/messages', ['x-a: 1\n2', 'content-length: 0'])), /^HTTP\/1\.1 400 /)
  })
  it('rejects headers over 16 KiB with 431', async () => {
    assert.match(await sendRaw(scene, head('/v1/messages', [`x-long: ${'a'.repeat(20_000)}`])), /^HTTP\/1\.1 431 /)
  })
  it('gives invalid HTTP a request id as well, in the header and in the body', async () => {
    for (const bytes of ['nonsense\r\n\r\n', head('/v1/messages', [`x-long: ${'a'.repeat(20_000)}`])]) {
      const answer = await sendRaw(scene, bytes)
      const id = /\r\nx-request-id: (req_\w+)\r\n/.exec(answer)?.[1]
      assert.ok(id)
      assert.equal(bodyOf(answer).error.request_id, id)
    }
  })
  it('rejects a request without a host in the error format of its family', async () => {
    const answer = await sendRaw(scene, 'GET /v1/organization/policies HTTP/1.1\r\nconnection: close\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.equal(bodyOf(answer).error.code, 'invalid_header')
  })
  it('rejects CONNECT with an error body', async () => {
    const answer = await sendRaw(scene, 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 405 .*\r\nallow: ?\r\n/s)
    assert.equal(bodyOf(answer).error.code, 'method_not_allowed')
  })
  it('answers 404 to a path that cannot be decoded, even after the part that the router reads', async () => {
    const answer = await sendRaw(scene, 'GET /nothing#%C3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 404 /)
  })
  it('ignores an unknown expectation', async () => {
    assert.match(await sendRaw(scene, head('/v1/models', ['expect: more', 'connection: close'])), /^HTTP\/1\.1 405 /)
  })
  for (const [name, id, status] of [
    ['200 letters of four bytes', '😀'.repeat(200), 404],
    ['more letters than an id may have', 'x'.repeat(2_000), 422],
  ] as const) {
    it(`accepts an id of ${name}, however long its URL encoding is`, async () => {
      const headers = { authorization: `Bearer ${scene.adminKey}` }
      const path = `/v1/organization/policies/${encodeURIComponent(id)}`
      assert.equal((await fetch(scene.url + path, { headers })).status, status)
    })
  }
  it('ignores X-Forwarded-For for the free request', async () => {
    const body = JSON.stringify({ model: 'gatehouse-echo', messages: [{ role: 'user', content: 'hi' }] })
    const send = (address: string) =>
      scene.post('/v1/messages', body, { 'x-free-tier': 'true', 'x-forwarded-for': address })
    assert.equal((await send('192.0.2.1')).status, 200)
    assert.equal((await send('192.0.2.2')).status, 401)
  })
  it('still serves requests after all these inputs', async () => {
    assert.equal((await scene.get('/health/ready')).status, 200)
  })
})

const bodyOf = (answer: string): Body => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
