import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { rejectConnect } from './broken-http.ts'

export type HttpServerParts = {
  readonly requestTimeoutMs: number
  /** Called when a caller has closed its sending side. */
  readonly onHalfClose: (socket: Socket) => void
  readonly newRequestId: () => string
  /** Plain HTTP if undefined. */
  readonly tls?: SecureContextOptions | undefined
}

export const maxHeaderBytes = 16 * 1024
const handshakeTimeoutMs = 15_000

/** Node's HTTP server with limits and handlers that Fastify cannot set. */
export function createHttpServer(handler: RequestListener, parts: HttpServerParts): Server {
  const { requestTimeoutMs, onHalfClose, newRequestId, tls } = parts
  const options = {
    keepAliveTimeout: 72_000,
    // `body.ts` times out first and answers in the family's error format. Node's timeout is the fallback.
    requestTimeout: requestTimeoutMs + 5_000,
    headersTimeout: Math.min(requestTimeoutMs, 15_000),
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false, // `headers.ts` checks it, and answers in the family's error format
    connectionsCheckingInterval: 1_000,
  }
  const server =
    tls === undefined
      ? createPlainServer(options, handler)
      : createSecureServer({ ...options, ...tls, handshakeTimeout: handshakeTimeoutMs }, handler)
  // Ignore unknown `Expect` values; by default Node answers 417 with an empty body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket) => rejectConnect(socket, newRequestId()))
  // By default Node closes the connection when the caller closes its sending side, although the caller may still read.
  Object.assign(server, { httpAllowHalfOpen: true })
  const onConnection = (socket: Socket): void => {
    // Not an option of the TLS server, because then a disconnect during the handshake would go unnoticed.
    socket.allowHalfOpen = true
    socket.once('end', () => onHalfClose(socket))
  }
  server.on(tls === undefined ? 'connection' : 'secureConnection', onConnection)
  return server
}
