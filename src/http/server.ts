import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { createBodyParser } from './body.ts'
import type { BodyRoom } from './body-memory-budget.ts'
import { answerBrokenHttp } from './broken-http.ts'
import type { CallerOf } from './caller.ts'
import { familyOf, pathOf, sendError, registerFamily } from './family.ts'
import { fastifyFault } from './fastify-errors.ts'
import { headerFault } from './headers.ts'
import { createHttpServer, maxHeaderBytes, type HttpServerParts } from './http-server.ts'
import { reserveRecord, type RequestRecorder } from './request-record.ts'
import type { EndpointFamily } from './route.ts'
import { shutdownFault } from './shutdown.ts'
import { createUnmatched } from './unmatched.ts'

export type ServerParts = Omit<HttpServerParts, 'newRequestId'> & {
  readonly families: readonly [EndpointFamily, ...EndpointFamily[]]
  readonly recorder: RequestRecorder
  readonly identify: CallerOf['identify']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** What large bodies take of the memory is counted for all ports together. */
  readonly roomFor: BodyRoom
  /** How many proxies before us are believed about whom they speak for. */
  readonly proxyHops: number
}

const lastKeepAliveMs = 500

/** The door: request ids, body and header rules, one error shape per family, and an orderly close. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const { families, recorder, roomFor, clock, ids, requestTimeoutMs } = parts
  const app = Fastify({
    logger: false,
    genReqId: () => ids('req'),
    requestIdHeader: false,
    trustProxy: parts.proxyHops > 0 && ((_address, hop) => hop < parts.proxyHops),
    bodyLimit: 256 * 1024,
    // An id that is too long is refused by its schema, which counts characters; an address has several for each.
    routerOptions: { maxParamLength: maxHeaderBytes },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // in no shape of ours
    schemaController: { compilersFactory: { buildValidator: neverNeeded, buildSerializer: neverNeeded } },
    serverFactory: (handler) => createHttpServer(handler, { ...parts, newRequestId: () => ids('req') }),
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket, ids('req')),
    frameworkErrors: (error, request, reply) =>
      void sendError(familyFor(request), fastifyFault(error), { request, reply, clock }),
  })

  let isClosing = false
  const unmatched = createUnmatched(families)
  reserveRecord(app)
  app.removeAllContentTypeParsers()
  // The usual type by its name: the framework remembers a parser that has one, and looks for the others each time.
  app.addContentTypeParser(['application/json', '*'], createBodyParser({ clock, timeoutMs: requestTimeoutMs }))
  // With callbacks instead of promises: these two run for every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    recorder.began(request)
    if (request.record) request.record.takeRoom = roomFor(request.raw, reply.raw)
    const fault = isClosing ? shutdownFault() : headerFault(request.raw)
    done(fault ?? (request.is404 ? unmatched(request) : undefined))
  })
  // Answers to inference are written past the framework, and have these headers of their own.
  app.addHook('onSend', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff')
    if (!reply.hasHeader('cache-control') && isJson(reply)) reply.header('cache-control', 'no-store')
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
  app.setErrorHandler((error, request, reply) =>
    sendError(familyFor(request), fastifyFault(error), { request, reply, clock }),
  )
  return app

  function familyFor(request: FastifyRequest): EndpointFamily {
    return familyOf(families, pathOf(request.url)) ?? families[0]
  }
}

const isJson = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('application/json')

/** Routes check their own bodies, so the framework's compilers need not even be loaded: they weigh as much as all our code. */
const neverNeeded = (): never => {
  throw new Error('no route hands a schema to the framework')
}
