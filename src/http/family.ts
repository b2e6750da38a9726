import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { isPromise } from '../base/maybe-promise.ts'
import { toFault, type Fault } from '../base/fault.ts'
import { withLimitStatus } from '../domain/limits/limited-fault.ts'
import type { CallerOf } from './caller.ts'
import { fastifyFault } from './fastify-errors.ts'
import { lingeringClose } from './lingering-close.ts'
import { recordError } from './request-record.ts'
import type { EndpointFamily, Route } from './route.ts'

export type FamilyOptions = { readonly clock: Clock; readonly identify: CallerOf['identify'] }

/** A family is a plugin: its way of saying no cannot leak into the next. */
export async function registerFamily(app: FastifyInstance, family: EndpointFamily, door: FamilyOptions): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) =>
      sendError(family, fastifyFault(error), { clock: door.clock, request, reply }),
    )
    for (const route of family.routes) {
      scope.route({ ...routeOptions(route), ...identified(route, door), ...unreadHandler(route, family, door) })
    }
  })
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly clock: Clock }

/** Says no in the family's own shape. */
export function sendError(family: EndpointFamily, fault: Fault, { request, reply, clock }: Exchange): FastifyReply {
  recordError(request, fault)
  const { status, headers, body } = family.encodeError(fault, request.id, pathOf(request.url))
  // What is left of an unread body is not worth reading.
  if (!request.raw.complete && hasBody(request)) {
    reply.header('connection', 'close')
    lingeringClose(request.raw.socket, clock)
  }
  // A path that cannot be read is refused before any hook ran.
  return reply
    .code(status)
    .headers({ 'x-request-id': request.id, ...headers })
    .send(body)
}

/** Also a request without a body is not complete yet when the hooks see it. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The family whose shape a path gets, also where nothing lives at it. */
export function familyOf(families: readonly EndpointFamily[], path: string): EndpointFamily | undefined {
  const matches = families.flatMap((family) =>
    family.prefixes.filter((prefix) => path.startsWith(prefix)).map((prefix) => ({ family, prefix })),
  )
  return matches.sort((a, b) => b.prefix.length - a.prefix.length)[0]?.family
}

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

const pattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Told to the body's reader: an empty body is then none. */
const bodiless = { takesBody: false }

/** Strangers are turned away before a byte of their body is read. */
function identified({ credential }: Route, { identify }: FamilyOptions) {
  const actor = identify[credential]
  if (actor === undefined) return {}
  // A caller who is known at once does not wait, and a callback is cheaper than a promise: every request comes by here.
  const onRequest = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) => {
    try {
      const found = actor(request)
      if (isPromise(found)) return found
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

/** Tells a request whose handler refused from one that never came so far. */
function unreadHandler({ handle, onRejectedBody }: Route, family: EndpointFamily, { clock }: FamilyOptions) {
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
