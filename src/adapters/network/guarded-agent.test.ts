import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type Server } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createAddressGuard, type ConnectTarget } from './address-guard.ts'
import { createGuardedAgent, type Resolve } from './guarded-agent.ts'
import { createRequest, Unreachable, type SendRequest } from './request.ts'

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url), 'utf8')
const signal = new AbortController().signal

async function listen(t: TestContext, server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return address.port
}

/** A listener that must never be reached. It counts connections, before any byte is sent. */
async function canary(t: TestContext, host = '::') {
  const seen = { visits: 0 }
  const server = createServer((socket) => {
    seen.visits++
    socket.destroy()
  })
  return { seen, port: await listen(t, server, host) }
}

type Opened = {
  readonly allow?: string[]
  readonly ports?: number[]
  readonly resolve?: Resolve
  readonly caPem?: string
}

function open(t: TestContext, { allow = [], ports = [], resolve, caPem }: Opened): SendRequest {
  const guard = createAddressGuard({ allowNetworks: allow, ports })
  const agent = createGuardedAgent({ guard, caPem, ...(resolve && { resolve }) })
  t.after(() => agent.destroy())
  return createRequest(agent)
}

const answers = (...lists: string[][]): Resolve => {
  let call = 0
  return async () => {
    const list = lists[Math.min(call++, lists.length - 1)] ?? []
    return list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

async function failureOf(request: SendRequest, url: string): Promise<Unreachable> {
  const error = await request({ method: 'GET', url: new URL(url), signal }).catch((reason: unknown) => reason)
  assert.ok(error instanceof Unreachable, String(error))
  return error
}

/** Known ways to bypass an address guard. The port is allowed, so that only the address can be rejected. */
const bypasses: { readonly title: string; readonly host: string; readonly resolve?: Resolve }[] = [
  { title: 'a plain loopback literal', host: '127.0.0.1' },
  { title: 'an address written as one number', host: '2130706433' },
  { title: 'an address in hexadecimal', host: '0x7f.1' },
  { title: 'an address in octal', host: '0177.0.0.1' },
  { title: 'a shortened address', host: '127.1' },
  { title: 'the IPv6 loopback', host: '[::1]' },
  { title: 'an IPv4 address mapped into IPv6', host: '[::ffff:127.0.0.1]' },
  { title: 'an IPv4 address behind NAT64', host: '[64:ff9b::7f00:1]' },
  { title: 'a name that resolves to loopback', host: 'inside.test', resolve: answers(['127.0.0.1']) },
  { title: 'the unspecified address', host: '0.0.0.0' },
  { title: 'localhost with a dot at its end', host: 'localhost.' },
  { title: 'a 6to4 address', host: '[2002:7f00:1::]' },
  { title: 'full-width digits', host: '１２７.0.0.1' },
]

describe('the guarded agent does not reach a local listener through', () => {
  for (const { title, host, resolve } of bypasses) {
    it(title, async (t) => {
      const { seen, port } = await canary(t)
      await failureOf(open(t, { ports: [port], ...(resolve && { resolve }) }), `https://${host}:${port}/`)
      assert.equal(seen.visits, 0)
    })
  }

  it('a name of which one address is allowed and another is not', async (t) => {
    const { seen, port } = await canary(t, '127.0.0.1')
    const request = open(t, { allow: ['127.0.0.2/32'], resolve: answers(['127.0.0.2', '127.0.0.1']) })
    await failureOf(request, `http://mixed.test:${port}/`)
    assert.equal(seen.visits, 0)
  })

  it('a name that passes the check and then changes its address', async (t) => {
    const { seen, port } = await canary(t, '127.0.0.1')
    const request = open(t, { allow: ['127.0.0.2/32'], resolve: answers(['127.0.0.2'], ['127.0.0.1']) })
    await failureOf(request, `http://rebind.test:${port}/`)
    assert.equal(seen.visits, 0)
  })

  it('a redirect, which it returns instead of following', async (t) => {
    const { seen, port } = await canary(t)
    const redirecting = await listen(
      t,
      createHttpServer((_, reply) => reply.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end()),
    )
    const request = open(t, { allow: ['127.0.0.0/8'] })
    const answer = await request({ method: 'GET', url: new URL(`http://127.0.0.1:${redirecting}/`), signal })
    assert.equal(answer.status, 302)
    assert.equal(seen.visits, 0)
  })
})

describe('the guarded agent', () => {
  const greet: RequestListener = (request, reply) => reply.end(`hello ${request.headers.host}`)

  it('reaches the same listener once the network is allowed, so the tests above can fail', async (t) => {
    const { seen, port } = await canary(t)
    await failureOf(open(t, { allow: ['127.0.0.0/8'] }), `http://2130706433:${port}/`)
    assert.equal(seen.visits, 1)
  })

  it('resolves a name once and connects to the address that it checked', async (t) => {
    const port = await listen(t, createHttpServer(greet))
    let lookups = 0
    const resolve: Resolve = async () =>
      lookups++ === 0 ? [{ address: '127.0.0.1', family: 4 }] : assert.fail('a second lookup')
    const request = open(t, { allow: ['127.0.0.0/8'], resolve })
    const answer = await request({ method: 'GET', url: new URL(`http://sink.test:${port}/`), signal })
    assert.equal(answer.body.toString(), `hello sink.test:${port}`)
    assert.equal(lookups, 1)
  })

  it('tries the other addresses of a name when the first is unreachable', async (t) => {
    const port = await listen(t, createHttpServer(greet), '127.0.0.2')
    const request = open(t, { allow: ['127.0.0.0/8'], resolve: answers(['127.0.0.1', '127.0.0.2']) })
    const answer = await request({ method: 'GET', url: new URL(`http://sink.test:${port}/`), signal })
    assert.equal(answer.status, 200)
  })

  it('verifies the certificate against the name, not the address, and trusts a custom CA', async (t) => {
    const tls = { key: fixture('sink.key.pem'), cert: fixture('sink.cert.pem') }
    const port = await listen(t, createHttpsServer(tls, greet))
    const allow = ['127.0.0.0/8']
    const resolve = answers(['127.0.0.1'])
    const trusting = open(t, { allow, resolve, caPem: tls.cert })
    const answer = await trusting({ method: 'GET', url: new URL(`https://sink.test:${port}/`), signal })
    assert.equal(answer.status, 200)
    await failureOf(trusting, `https://other.test:${port}/`)
    await failureOf(open(t, { allow, resolve }), `https://sink.test:${port}/`)
  })

  it('calls the guard with the address, the port and whether TLS is used', async (t) => {
    const targets: ConnectTarget[] = []
    const guard = (target: ConnectTarget): boolean => targets.push(target) === 0
    const agent = createGuardedAgent({ guard, resolve: answers(['127.0.0.1']) })
    t.after(() => agent.destroy())
    const urls = ['http://sink.test/', 'https://sink.test/', 'https://sink.test:8443/', 'http://127.0.0.1:81/']
    for (const url of urls) {
      const { cause } = await failureOf(createRequest(agent), url)
      assert.match(String(cause), /is at 127.0.0.1, which is not allowed/)
    }
    assert.deepEqual(
      targets.map(({ address, port, isSecure }) => [address, port, isSecure]),
      [
        ['127.0.0.1', 80, false],
        ['127.0.0.1', 443, true],
        ['127.0.0.1', 8443, true],
        ['127.0.0.1', 81, false],
      ],
    )
  })

  it('sends nothing to a host that is not allowed once connected', async (t) => {
    let requests = 0
    const port = await listen(
      t,
      createHttpServer((_, reply) => reply.end(String(requests++))),
    )
    let checks = 0
    const agent = createGuardedAgent({ guard: () => checks++ === 0 })
    t.after(() => agent.destroy())
    await failureOf(createRequest(agent), `http://127.0.0.1:${port}/`)
    assert.deepEqual([checks, requests], [2, 0])
  })

  it('uses one message for every failure, and keeps the reason for the log', async (t) => {
    const closed = await listen(t, createServer())
    const silent = open(t, { allow: ['127.0.0.0/8'], resolve: async () => Promise.reject(new Error('ENOTFOUND')) })
    const errors = [
      await failureOf(open(t, { ports: [closed] }), `https://127.0.0.1:${closed}/`),
      await failureOf(open(t, { allow: ['127.0.0.0/8'] }), 'http://127.0.0.1:1/'),
      await failureOf(silent, 'http://nowhere.test/'),
      await failureOf(silent, 'http://user:secret@127.0.0.1/'),
      await failureOf(silent, 'ftp://127.0.0.1/'),
    ]
    assert.deepEqual([...new Set(errors.map((error) => error.message))], ['The destination could not be reached.'])
    assert.ok(errors.every((error) => error.cause instanceof Error))
  })
})

describe('a request', () => {
  it('reads an endless response only up to its limit', async (t) => {
    const port = await listen(
      t,
      createHttpServer((_, reply) => {
        const fill = (): void => {
          while (reply.write('x'.repeat(65_536)));
          reply.once('drain', fill)
        }
        fill()
      }),
    )
    const request = open(t, { allow: ['127.0.0.0/8'] })
    const url = new URL(`http://127.0.0.1:${port}/`)
    const answer = await request({ method: 'GET', url, signal, maxResponseBytes: 1_000 })
    assert.equal(answer.body.length, 1_000)
  })

  it('throws the abort reason when aborted, not Unreachable', async (t) => {
    const port = await listen(
      t,
      createHttpServer(() => controller.abort(new Error('stopping'))),
    )
    const controller = new AbortController()
    const request = open(t, { allow: ['127.0.0.0/8'] })
    const url = new URL(`http://127.0.0.1:${port}/`)
    await assert.rejects(request({ method: 'GET', url, signal: controller.signal }), /stopping/)
  })
})
