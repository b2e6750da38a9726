import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { isPromise } from '../base/maybe-promise.ts'
import { toFault, type Fault } from '../base/fault.ts'
import { withLimitStatus } from '../domain/limits/limited-fault.ts'
import { createBodyParser, form } from './body.ts'
import type { CallerOf } from './caller.ts'
import { fastifyFault } from './fastify-errors.ts'
import { HttpFault } from './fault-headers.ts'
import { recordError } from './request-record.ts'
import type { EndpointFamily, Route } from './route.ts'

export type FamilyOptions = {
  readonly clock: Clock
  readonly identify: CallerOf['identify']
  readonly requestTimeoutMs: number
}

/** Each endpoint family is a Fastify plugin, so its error handler covers only its own routes. */
export async function registerFamily(
  app: FastifyInstance,
  family: EndpointFamily,
  options: FamilyOptions,
): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) =>
      sendError(family, fastifyFault(error), { clock: options.clock, request, reply }),
    )
    if (family.takesForms) {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser(
        '*',
        createBodyParser({ clock: options.clock, timeoutMs: options.requestTimeoutMs }, form),
      )
    }
    for (const route of family.routes) {
      scope.route({
        ...routeOptions(route),
        ...authentication(route, options),
        ...rejectionHandler(route, family, options),
      })
    }
  })
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly clock: Clock }

/** Sends the fault in the family's error format. */
export function sendError(
  family: Pick<EndpointFamily, 'encodeError'>,
  fault: Fault,
  { request, reply, clock }: Exchange,
): FastifyReply {
  recordError(request, fault)
  const { status, headers, body } = family.encodeError(fault, request.id, pathOf(request.url))
  // The rest of a body that was not read completely is discarded with the connection.
  if (!request.raw.complete && hasBody(request)) {
    reply.header('connection', 'close')
    lingeringClose(request.raw.socket, clock)
  }
  // Fastify rejects a path that cannot be decoded before any hook runs, so the request id is set here too.
  return reply
    .code((fault instanceof HttpFault ? fault.status : undefined) ?? status)
    .headers({ 'x-request-id': request.id, ...headers })
    .send(body)
}

/** `complete` is false in the hooks even for a request without a body, so the headers decide. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The family whose error format applies to a path, also if no route matches it. */
export function familyOf(families: readonly EndpointFamily[], path: string): EndpointFamily | undefined {
  const matches = families.flatMap((family) =>
    family.prefixes.filter((prefix) => path.startsWith(prefix)).map((prefix) => ({ family, prefix })),
  )
  return matches.sort((a, b) => b.prefix.length - a.prefix.length)[0]?.family
}

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

const pattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Marks a route without a body, for which the body parser accepts an empty one. */
const bodiless = { takesBody: false }

/** Authenticates before a byte of the body is read. */
function authentication({ credential }: Route, { identify }: FamilyOptions) {
  const authenticate = identify[credential]
  if (authenticate === undefined) return {}
  // A callback, because it is cheaper than a promise and runs for every request. Cached credentials need no promise.
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
    try {
      const authenticated = authenticate(request)
      if (isPromise(authenticated)) return authenticated
      done()
    } catch (error) {
      done(toFault(error))
    }
    return undefined
  }
  return { onRequest }
}

function routeOptions(route: Route) {
  const config = route.body === undefined ? bodiless : {}
  const options = { method: route.method, url: pattern(route.path), handler: route.handle, config }
  return route.bodyLimitBytes === undefined ? options : { ...options, bodyLimit: route.bodyLimitBytes }
}

/** Calls `onRejectedBody` for requests that were rejected before the handler started. */
function rejectionHandler({ handle, onRejectedBody }: Route, family: EndpointFamily, { clock }: FamilyOptions) {
  if (onRejectedBody === undefined) return {}
  const faultFor = async (error: unknown, request: FastifyRequest): Promise<Fault> => {
    if (request.record?.handlerStarted === true) return fastifyFault(error)
    const fault = fastifyFault(error)
    return onRejectedBody(request).then((status) => (status ? withLimitStatus(fault, status) : fault), fastifyFault)
  }
  return {
    handler: (request: FastifyRequest, reply: FastifyReply) => {
      if (request.record) request.record.handlerStarted = true
      return handle(request, reply)
    },
    errorHandler: async (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendError(family, await faultFor(error, request), { clock, request, reply }),
  }
}

const lingerMs = 1_000

/**
 * Closes the connection a second after the response, because a close while the caller is still sending resets the
 * connection, and the caller would never read the error.
 */
function lingeringClose(socket: Socket, clock: Clock): void {
  socket.destroySoon = () => {
    socket.end()
    clock.after(lingerMs, () => socket.destroy())
  }
}
