import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A loopback server with scripted responses that stores the requests it receives. */
export type TestUpstream = AsyncDisposable & {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** The responses of the next requests, in order; the last one is repeated. */
  answer(...scripts: readonly [Script, ...Script[]]): void
}

export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Settles when the connection or the response has ended; true if the caller disconnected before the end. */
  readonly hungUp: Promise<boolean>
}

export type Script = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>

export async function startUpstream(...scripts: readonly Script[]): Promise<TestUpstream> {
  let waiting = [...scripts]
  const requests: ReceivedRequest[] = []
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: await text(incoming),
      hungUp: once(response, 'close').then(() => !response.writableFinished),
    }
    requests.push(request)
    const script = waiting.length > 1 ? waiting.shift() : waiting[0]
    await (script ?? answerJson({ error: 'nothing scripted' }, 500))(response, request)
  }
  const server = createServer((incoming, response) => void respond(incoming, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    requests,
    answer(...next) {
      waiting = [...next]
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0

/** A complete JSON response. */
export const answerJson =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** A stream of server-sent events, one network write per chunk. */
export const answerStream =
  (...chunks: readonly (string | Uint8Array)[]): Script =>
  async (response) => {
    beginStream(response)
    for (const chunk of chunks) await write(response, chunk)
    response.end()
  }

/** A stream whose connection breaks after these chunks. */
export const cutStream =
  (...chunks: readonly (string | Uint8Array)[]): Script =>
  async (response) => {
    beginStream(response)
    for (const chunk of chunks) await write(response, chunk)
    response.socket?.resetAndDestroy()
  }

/** A stream that stays open without data after these chunks. */
export const stalledStream =
  (...chunks: readonly (string | Uint8Array)[]): Script =>
  async (response) => {
    beginStream(response)
    for (const chunk of chunks) await write(response, chunk)
  }

/** Never answers at all. */
export const silence: Script = () => {}

function beginStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
}

const write = (response: ServerResponse, chunk: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => response.write(chunk, () => resolve()))
