import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { createBodyParser } from './body.ts'
import type { BodyMemoryBudget } from './body-memory-budget.ts'
import { answerBrokenHttp, rejectConnect } from './broken-http.ts'
import type { CallerOf } from './caller.ts'
import { familyOf, pathOf, sendError, registerFamily } from './family.ts'
import { fastifyFault } from './fastify-errors.ts'
import { headerFault, upgradeFault } from './headers.ts'
import { declareRecord, type RequestRecorder } from './request-record.ts'
import type { EndpointFamily } from './route.ts'
import { shutdownFault } from './shutdown.ts'
import { describeUnoffered, formatPathOf } from './unoffered-routes.ts'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { Fault } from '../base/fault.ts'
import { HttpFault } from './fault-headers.ts'

export type ServerParts = Omit<HttpServerParts, 'newRequestId'> & {
  readonly families: readonly [EndpointFamily, ...EndpointFamily[]]
  readonly recorder: RequestRecorder
  readonly identify: CallerOf['identify']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** One budget for the large bodies of all ports. */
  readonly bodyMemory: BodyMemoryBudget
  /** The number of proxies in front of this server whose `X-Forwarded-For` is trusted. */
  readonly proxyHops: number
}

const shutdownKeepAliveMs = 500

/** The HTTP server: request ids, body and header rules, one error format per family, and a graceful shutdown. */
export async function createServer(parts: ServerParts): Promise<FastifyInstance> {
  const { families, recorder, bodyMemory, clock, ids, requestTimeoutMs } = parts
  const app = Fastify({
    logger: false,
    genReqId: () => ids('req'),
    requestIdHeader: false,
    trustProxy: parts.proxyHops > 0 && ((_address, hop) => hop < parts.proxyHops),
    bodyLimit: 256 * 1024,
    // The schema of an id limits its characters. The router would count bytes of the encoded path.
    routerOptions: { maxParamLength: maxHeaderBytes },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // Fastify's own 503 body matches no family's error format
    schemaController: { compilersFactory: { buildValidator: notUsed, buildSerializer: notUsed } },
    serverFactory: (handler) => createHttpServer(handler, { ...parts, newRequestId: () => ids('req') }),
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket, ids('req')),
    frameworkErrors: (error, request, reply) =>
      void sendError(familyFor(request), fastifyFault(error), { request, reply, clock }),
  })

  let isClosing = false
  const unmatched = createUnmatched(families)
  declareRecord(app)
  app.removeAllContentTypeParsers()
  // The usual type by name, because Fastify looks up named parsers directly and searches for others each time.
  app.addContentTypeParser(['application/json', '*'], createBodyParser({ clock, timeoutMs: requestTimeoutMs }))
  // Callbacks instead of promises, because these hooks run for every request.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    recorder.began(request)
    if (request.record) request.record.reserveBodyMemory = bodyMemory(request.raw, reply.raw)
    const fault = isClosing ? shutdownFault() : (headerFault(request.raw) ?? upgradeFault(request.raw))
    done(fault ?? (request.is404 ? unmatched(request) : undefined))
  })
  // Inference responses bypass Fastify (`write-head.ts`) and set these headers themselves.
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
    // Callers with a response in flight may send another request on the connection. It gets a 503, then the connection closes.
    app.server.keepAliveTimeout = shutdownKeepAliveMs
    done()
  })
  for (const family of families)
    await registerFamily(app, family, { clock, identify: parts.identify, requestTimeoutMs })
  app.setErrorHandler((error, request, reply) =>
    sendError(familyFor(request), fastifyFault(error), { request, reply, clock }),
  )
  return app

  function familyFor({ url, headers }: FastifyRequest): EndpointFamily {
    const path = pathOf(url)
    const family = familyOf(families, path) ?? families[0]
    if (family !== families[0] || describeUnoffered(path) === undefined) return family
    return familyOf(families, formatPathOf(path, headers)) ?? family
  }
}

const isJson = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('application/json')

/** Routes validate their own bodies. Fastify's compilers are not loaded, because they are as large as all code of the gateway. */
const notUsed = (): never => {
  throw new Error('no route passes a schema to Fastify')
}

type HttpServerParts = {
  readonly requestTimeoutMs: number
  /** Called when a caller has closed its sending side. */
  readonly onHalfClose: (socket: Socket) => void
  readonly newRequestId: () => string
  /** Plain HTTP if undefined. */
  readonly tls?: SecureContextOptions | undefined
}

const maxHeaderBytes = 16 * 1024
const handshakeTimeoutMs = 15_000

/** Node's HTTP server with limits and handlers that Fastify cannot set. */
function createHttpServer(handler: RequestListener, parts: HttpServerParts): Server {
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

/**
 * The fault for a request that matches no route: 405 if the path has other methods, else 404. The server calls it before
 * it reads the body. It matches paths itself, because the router knows only the methods that have routes.
 */
function createUnmatched(families: readonly EndpointFamily[]): (request: FastifyRequest) => Fault {
  const routes = families
    .flatMap((family) => family.routes)
    .map(({ method, path }) => ({ method, path, pattern: patternOf(path) }))
  return ({ method, url }) => {
    const path = decoded(pathOf(url))
    // A path of its own, such as `/policies/check`, is not also the one of an object with that id.
    const own = routes.filter((route) => route.path === path)
    const unoffered = own.length > 0 ? undefined : describeUnoffered(path)
    if (unoffered !== undefined) return new Fault('not_found', 'unknown_route', unoffered)
    const matching = own.length > 0 ? own : routes.filter(({ pattern }) => pattern.test(path))
    const methods = matching.map((route) => route.method)
    if (methods.length > 0) return notAllowed(method, [...new Set(methods)].join(', '))
    return new Fault('not_found', 'unknown_route', `No route for ${method} ${pathOf(url).slice(0, 200)}.`)
  }
}

function notAllowed(method: string, allow: string): Fault {
  const message = `${method} is not allowed for this path; use ${allow}.`
  return new HttpFault({ kind: 'method', code: 'method_not_allowed', message }, { allow })
}

/** `/v1/models/{model}` as a pattern: a parameter matches everything up to the next slash. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]*')}$`)

/** The router has rejected paths that cannot be decoded, but it ignores fragments, so those may still fail here. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
