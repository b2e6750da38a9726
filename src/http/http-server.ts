import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { refuseTunnel } from './broken-http.ts'

export type HttpServerParts = {
  readonly requestTimeoutMs: number
  /** Told when a caller has closed its sending side. */
  readonly onHalfClose: (socket: Socket) => void
  readonly newRequestId: () => string
  /** Without it, plain HTTP. */
  readonly tls?: SecureContextOptions | undefined
}

export const maxHeaderBytes = 16 * 1024
const handshakeTimeoutMs = 15_000

/** A server of Node's with the limits and habits that the framework cannot set. */
export function createHttpServer(handler: RequestListener, parts: HttpServerParts): Server {
  const { requestTimeoutMs, onHalfClose, newRequestId, tls } = parts
  const options = {
    keepAliveTimeout: 72_000,
    // Our own reader gives up first, in the family's shape; Node's is the net below it.
    requestTimeout: requestTimeoutMs + 5_000,
    headersTimeout: Math.min(requestTimeoutMs, 15_000),
    maxHeaderSize: maxHeaderBytes,
    requireHostHeader: false, // we ask for it ourselves, and say so in the family's shape
    connectionsCheckingInterval: 1_000,
  }
  const server =
    tls === undefined
      ? createPlainServer(options, handler)
      : createSecureServer({ ...options, ...tls, handshakeTimeout: handshakeTimeoutMs }, handler)
  // What a caller expects beyond `100-continue` changes nothing; Node would refuse it without a word.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket) => refuseTunnel(socket, newRequestId()))
  // Node would take the end of what a caller sends for the end of its interest in the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  const onConnection = (socket: Socket): void => {
    // Not set for the whole of a TLS server: a caller that leaves during the handshake would then never be noticed.
    socket.allowHalfOpen = true
    socket.once('end', () => onHalfClose(socket))
  }
  server.on(tls === undefined ? 'connection' : 'secureConnection', onConnection)
  return server
}
