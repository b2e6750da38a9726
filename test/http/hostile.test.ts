import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

/** The union of what the families say. */
type Body = { error: { type?: string; code?: string; request_id?: string }; code?: string }

/** Every family, how it spells a refusal, and a body it would take. */
const families = [
  {
    path: '/v1/messages',
    codeOf: (body: Body) => body.error.type,
    invalid: 'invalid_request_error',
    large: 'request_too_large',
    slow: 'timeout_error',
  },
  {
    path: '/v1/responses',
    codeOf: (body: Body) => body.code,
    invalid: 'invalid_json',
    large: 'body_too_large',
    slow: 'request_timeout',
  },
  {
    path: '/v1/chat/completions',
    codeOf: (body: Body) => body.error.code,
    invalid: 'invalid_json',
    large: 'body_too_large',
    slow: 'request_timeout',
  },
]

/** Bodies that nobody means well with; none may be parsed into a 500, and none may reach a model. */
const hostile: Readonly<Record<string, string | Buffer>> = {
  'an empty body': '',
  'broken JSON': '{"model":',
  'data after the JSON': '{} {}',
  'a byte order mark': '\ufeff{}',
  'an array': '[]',
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  'half a surrogate pair': '{"model":"\\ud800","messages":[],"input":""}',
  'a NUL character': '{"model":"a\\u0000","messages":[],"input":""}',
  'nesting a hundred thousand deep': `{"model":${'['.repeat(100_000)}`,
  'a __proto__ key': '{"__proto__":{"isAdmin":true},"model":"gatehouse-echo"}',
  'a constructor.prototype key': '{"constructor":{"prototype":{"isAdmin":true}}}',
  'a million keys': `{${'"k":0,'.repeat(1_000_000)}"z":0}`,
}

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

  /** Writes raw bytes, and answers everything that comes back until the server closes. */
  const raw = (bytes: string, { stayOpen = false, of = scene } = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(of.url)
      const socket = connect(Number(port), hostname)
      let answer = ''
      socket.on('data', (chunk) => (answer += chunk))
      socket.on('error', reject)
      socket.on('close', () => resolve(answer))
      socket.write(bytes)
      if (!stayOpen) socket.end()
    })
  const head = (path: string, lines: readonly string[] = [], { apiKey } = scene): string =>
    [
      `POST ${path} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${apiKey}`,
      'content-type: application/json',
      ...lines,
      '',
      '',
    ].join('\r\n')

  for (const { path, codeOf, invalid, large, slow } of families) {
    for (const [name, body] of Object.entries(hostile)) {
      it(`${path} refuses ${name} with 400 in its own shape`, async () => {
        const headers = { authorization: `Bearer ${scene.apiKey}`, 'content-type': 'application/json' }
        const response = await fetch(scene.url + path, {
          method: 'POST',
          headers,
          body: typeof body === 'string' ? body : new Uint8Array(body),
        })
        assert.equal(response.status, 400)
        assert.equal(codeOf((await response.json()) as Body), invalid)
        assert.equal(({} as Record<string, unknown>)['isAdmin'], undefined)
      })
    }
    it(`${path} refuses another content type with 400`, async () => {
      const headers = { authorization: `Bearer ${scene.apiKey}`, 'content-type': 'text/plain' }
      assert.equal((await fetch(scene.url + path, { method: 'POST', headers, body: '{}' })).status, 400)
    })
    it(`${path} refuses an announced 10 GB body at once`, async () => {
      const answer = await raw(head(path, ['content-length: 10737418240']), { stayOpen: true })
      assert.match(answer, /^HTTP\/1\.1 413 /)
      assert.equal(codeOf(bodyOf(answer)), large)
    })
    it(`${path} refuses a body that takes too long with 408`, async () => {
      const answer = await raw(`${head(path, ['content-length: 100'], impatient)}{"model":`, {
        stayOpen: true,
        of: impatient,
      })
      assert.match(answer, /^HTTP\/1\.1 408 /)
      assert.equal(codeOf(bodyOf(answer)), slow)
    })
    it(`${path} refuses two authorization headers with 400`, async () => {
      const answer = await raw(
        `${head(path, ['authorization: Bearer other', 'content-length: 2', 'connection: close'])}{}`,
      )
      assert.match(answer, /^HTTP\/1\.1 400 /)
      assert.equal(typeof codeOf(bodyOf(answer)), 'string')
    })
    it(`${path} stops reading an endless chunked body at its limit`, async () => {
      const { hostname, port } = new URL(scene.url)
      const socket = connect(Number(port), hostname)
      let answer = ''
      socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
      socket.write(head(path, ['transfer-encoding: chunked']))
      const chunk = `${(1 << 20).toString(16)}\r\n${' '.repeat(1 << 20)}\r\n`
      const answered = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
      for (let megabytes = 0; megabytes < 64 && answer === '' && !socket.destroyed; megabytes++) {
        if (!socket.write(chunk))
          await Promise.race([answered, new Promise((resolve) => socket.once('drain', resolve))])
      }
      await answered
      socket.destroy()
      assert.match(answer, /^HTTP\/1\.1 413 /)
    })
  }

  it('closes a connection whose headers do not come in time', async () => {
    assert.match(
      await raw('POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: ', { stayOpen: true, of: impatient }),
      /^HTTP\/1\.1 408 |^$/,
    )
  })
  it('refuses a length and chunks at once, and two lengths', async () => {
    assert.match(
      await raw(`${head('/v1/messages', ['content-length: 2', 'transfer-encoding: chunked'])}0\r\n\r\n`),
      /^HTTP\/1\.1 400 /,
    )
    assert.match(await raw(`${head('/v1/messages', ['content-length: 2', 'content-length: 3'])}{}`), /^HTTP\/1\.1 400 /)
  })
  it('refuses folded headers and line breaks in values', async () => {
    assert.match(await raw(head('/v1/messages', ['x-a: 1\r\n continued', 'content-length: 0'])), /^HTTP\/1\.1 400 /)
    assert.match(await raw(head('/v1/messages', ['x-a: 1\n2', 'content-length: 0'])), /^HTTP\/1\.1 400 /)
  })
  it('refuses headers over 16 KiB with 431', async () => {
    assert.match(await raw(head('/v1/messages', [`x-long: ${'a'.repeat(20_000)}`])), /^HTTP\/1\.1 431 /)
  })
  it('gives what is no HTTP a request id as well, in the header and in the body', async () => {
    for (const bytes of ['nonsense\r\n\r\n', head('/v1/messages', [`x-long: ${'a'.repeat(20_000)}`])]) {
      const answer = await raw(bytes)
      const id = /\r\nx-request-id: (req_\w+)\r\n/.exec(answer)?.[1]
      assert.ok(id)
      assert.equal(bodyOf(answer).error.request_id, id)
    }
  })
  it('refuses a request without a host in the shape of its family', async () => {
    const answer = await raw('GET /v1/organization/policies HTTP/1.1\r\nconnection: close\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.equal(bodyOf(answer).error.code, 'invalid_header')
  })
  it('refuses to be a tunnel, in words', async () => {
    const answer = await raw('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 405 .*\r\nallow: ?\r\n/s)
    assert.equal(bodyOf(answer).error.code, 'method_not_allowed')
  })
  it('finds no route at a path that cannot be decoded, beyond where the router reads it', async () => {
    const answer = await raw('GET /nothing#%C3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    assert.match(answer, /^HTTP\/1\.1 404 /)
  })
  it('passes over an expectation that it does not know', async () => {
    assert.match(await raw(head('/v1/models', ['expect: more', 'connection: close'])), /^HTTP\/1\.1 405 /)
  })
  for (const [name, id, status] of [
    ['200 letters of four bytes', '😀'.repeat(200), 404],
    ['more letters than an id may have', 'x'.repeat(2_000), 422],
  ] as const) {
    it(`reads an id of ${name}, however long it is as an address`, async () => {
      const headers = { authorization: `Bearer ${scene.adminKey}` }
      const path = `/v1/organization/policies/${encodeURIComponent(id)}`
      assert.equal((await fetch(scene.url + path, { headers })).status, status)
    })
  }
  it('does not believe X-Forwarded-For about the free request', async () => {
    const body = JSON.stringify({ model: 'gatehouse-echo', messages: [{ role: 'user', content: 'hi' }] })
    const ask = (address: string) =>
      scene.post('/v1/messages', body, { 'x-free-tier': 'true', 'x-forwarded-for': address })
    assert.equal((await ask('192.0.2.1')).status, 200)
    assert.equal((await ask('192.0.2.2')).status, 401)
  })
  it('still serves after all that', async () => {
    assert.equal((await scene.get('/health/ready')).status, 200)
  })
})

const bodyOf = (answer: string): Body => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))
