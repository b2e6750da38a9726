import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createAddressGuard } from '../../src/adapters/network/address-guard.ts'
import { createGuardedAgent } from '../../src/adapters/network/guarded-agent.ts'
import { createRequest, type SendRequest } from '../../src/adapters/network/request.ts'

/** A received request. */
export type Received = {
  readonly method: string
  /** Path and query, exactly as sent. */
  readonly target: string
  readonly headers: IncomingMessage['headers']
  /** The body as sent. */
  readonly raw: Buffer
  /** The body after decompression. */
  readonly text: string
}

export type Reply = {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string | object | Uint8Array
}

/** Handles one request; throwing closes the connection. */
export type Handler = (received: Received) => Reply

export type Receiver = { readonly origin: string; readonly requests: Received[] }

/** A server on loopback that stores the requests it receives. */
export async function startReceiver(t: TestContext, handle: Handler): Promise<Receiver> {
  const requests: Received[] = []
  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await read(message)
    requests.push(received)
    const { status, headers = {}, body = '' } = handle(received)
    response
      .writeHead(status, headers)
      .end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
  }
  const server = createServer((message, response) => {
    answer(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  return { origin: `http://127.0.0.1:${address.port}`, requests }
}

async function read(message: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  const raw = Buffer.concat(chunks)
  const text = (message.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString()
  return { method: message.method ?? '', target: message.url ?? '', headers: message.headers, raw, text }
}

/**
 * The real network code, including the address guard, with loopback allowed. Vendors with a fixed address are rerouted: `routes`
 * maps their host to a receiver's origin, and the original host is sent as `x-called-host`.
 */
export function loopbackRequest(t: TestContext, routes: Readonly<Record<string, string>> = {}): SendRequest {
  const agent = createGuardedAgent({ guard: createAddressGuard({ allowNetworks: ['127.0.0.0/8'] }) })
  t.after(() => agent.destroy())
  return rerouted(createRequest(agent), routes)
}

/** The same, with calls to these hosts sent to other origins. */
export function rerouted(request: SendRequest, routes: Readonly<Record<string, string>>): SendRequest {
  return (outgoing) => {
    const origin = routes[outgoing.url.host]
    if (origin === undefined) return request(outgoing)
    const url = new URL(outgoing.url.pathname + outgoing.url.search, origin)
    return request({ ...outgoing, url, headers: { ...outgoing.headers, 'x-called-host': outgoing.url.host } })
  }
}
