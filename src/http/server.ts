import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { createBodyParser } from './body.ts'
import { createBodyRoom } from './body-room.ts'
import { answerBrokenHttp, refuseTunnel } from './broken-http.ts'
import type { CallerOf } from './caller.ts'
import { familyOf, pathOf, refuse, registerFamily } from './family.ts'
import { faultOf } from './framework-fault.ts'
import { headerFault } from './headers.ts'
import { reserveRecord, type RequestRecorder } from './request-record.ts'
import type { Family } from './route.ts'
import { stoppingFault } from './stopping.ts'
import { createUnmatched } from './unmatched.ts'

export type ServerParts = {
  readonly families: readonly [Family, ...Family[]]
  readonly recorder: RequestRecorder
  readonly identify: CallerOf['identify']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Told when a caller has closed its sending side. */
  readonly onHalfClose: (socket: Socket) => void
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
  app.server.on('connect', (_request, socket) => refuseTunnel(socket, ids('req')))
  // Node would take the end of what a caller sends for the end of its interest in the answer.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  app.server.on('connection', (socket) => socket.once('end', () => parts.onHalfClose(socket)))
  let isClosing = false
  const unmatched = createUnmatched(families)
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
    const fault = isClosing ? stoppingFault() : headerFault(request.raw)
    done(fault ?? (request.is404 ? unmatched(request) : undefined))
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
