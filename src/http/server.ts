import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { createBodyParser } from './body.ts'
import { createBodyRoom } from './body-room.ts'
import type { CallerOf } from './caller.ts'
import { familyOf, pathOf, refuse, registerFamily } from './family.ts'
import { faultOf } from './framework-fault.ts'
import { headerFault } from './headers.ts'
import { reserveRecord, type RequestRecorder } from './request-record.ts'
import type { Family } from './route.ts'
import { stoppingFault } from './stopping.ts'

export type ServerParts = {
  readonly families: readonly [Family, ...Family[]]
  readonly recorder: RequestRecorder
  readonly identify: CallerOf['identify']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly requestTimeoutMs: number
  /** What large bodies may take of the memory, all together. */
  readonly bodyRoomBytes: number
  /** How many proxies before us are believed about whom they speak for. */
  readonly proxyHops: number
}

const maxHeaderBytes = 16 * 1024
const lastKeepAliveMs = 500

/** The door: request ids, body and header rules, one error shape per family, and an orderly close. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const { families, recorder, clock, ids, requestTimeoutMs } = parts
  const app = Fastify({
    logger: false,
    genReqId: () => ids('req'),
    requestIdHeader: false,
    trustProxy: parts.proxyHops > 0 && ((_address, hop) => hop < parts.proxyHops),
    bodyLimit: 256 * 1024,
    // An id that is too long is refused by its schema, which counts characters; an address has several for each.
    routerOptions: { maxParamLength: maxHeaderBytes },
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // in no shape of ours
    schemaController: { compilersFactory: { buildValidator: neverNeeded, buildSerializer: neverNeeded } },
    // Our own reader gives up first, in the family's shape; Node's is the net below it.
    requestTimeout: requestTimeoutMs + 5_000,
    http: {
      headersTimeout: Math.min(requestTimeoutMs, 15_000),
      maxHeaderSize: maxHeaderBytes,
      requireHostHeader: false, // we ask for it ourselves, and say so in the family's shape
      connectionsCheckingInterval: 1_000,
    },
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket, ids('req')),
    frameworkErrors: (error, request, reply) =>
      void refuse(familyFor(request), faultOf(error), { request, reply, clock }),
  })

  // What a caller expects beyond `100-continue` changes nothing; Node would refuse it without a word.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  let isClosing = false
  const roomFor = createBodyRoom(parts.bodyRoomBytes)
  reserveRecord(app)
  app.removeAllContentTypeParsers()
  // The usual type by its name: the framework remembers a parser that has one, and looks for the others each time.
  app.addContentTypeParser(['application/json', '*'], createBodyParser({ clock, timeoutMs: requestTimeoutMs }))
  // With callbacks instead of promises: these two run for every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    recorder.began(request)
    if (request.record) request.record.takeRoom = roomFor(request.raw, reply.raw)
    done(isClosing ? stoppingFault() : headerFault(request.raw))
  })
  app.addHook('onResponse', (request, reply, done) => {
    recorder.ended(request, reply.statusCode)
    done()
  })
  app.addHook('preClose', (done) => {
    isClosing = true
    // Callers whose answer is under way may ask again on their connection, and are told why not; it is not kept for longer.
    app.server.keepAliveTimeout = lastKeepAliveMs
    done()
  })
  for (const family of families) await registerFamily(app, family, { clock, identify: parts.identify })
  app.setNotFoundHandler((request, reply) => {
    const fault = new Fault(
      'not_found',
      'unknown_route',
      `Nothing lives at ${request.method} ${pathOf(request.url).slice(0, 200)}.`,
    )
    return refuse(familyFor(request), fault, { request, reply, clock })
  })
  app.setErrorHandler((error, request, reply) => refuse(familyFor(request), faultOf(error), { request, reply, clock }))
  return app

  function familyFor(request: FastifyRequest): Family {
    return familyOf(families, pathOf(request.url)) ?? families[0]
  }
}

/** Routes check their own bodies, so the framework's compilers need not even be loaded: they weigh as much as all our code. */
const neverNeeded = (): never => {
  throw new Error('no route hands a schema to the framework')
}

const brokenHttp: Readonly<Record<string, { status: string; code: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'headers_too_large',
    message: 'The headers are over 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_timeout',
    message: 'The request was not sent in time.',
  },
}

/** Bytes that are not HTTP never reach a route: no path, so no family. The administration's shape is the general one. */
function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const known = brokenHttp[error.code ?? '']
  const { status, code, message } = known ?? {
    status: '400 Bad Request',
    code: 'invalid_request',
    message: 'The request is not valid HTTP.',
  }
  const body = JSON.stringify({
    error: { code, message, type: 'validation_error', param: null, request_id: requestId, doc_url: null },
  })
  const headers = ['connection: close', 'content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
  const head = [`HTTP/1.1 ${status}`, `x-request-id: ${requestId}`, ...headers, '', ''].join('\r\n')
  socket.end(head + body)
}
