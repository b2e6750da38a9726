import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { faultOf } from './framework-fault.ts'
import { lingerBeforeClose } from './linger.ts'
import type { Family, Route } from './route.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** What saying no needs besides the words. */
export type Refusing = { readonly clock: Clock; readonly noteRefusal: (request: FastifyRequest, fault: Fault) => void }

/** A family is a plugin: its way of saying no cannot leak into the next. */
export async function registerFamily(app: FastifyInstance, family: Family, refusing: Refusing): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => refuse(family, faultOf(error), { ...refusing, request, reply }))
    for (const [path, routes] of Map.groupBy(family.routes, (route) => route.path)) {
      for (const route of routes) scope.route(routeOptions(route))
      scope.route({ method: missing(routes), url: pattern(path), handler: notAllowed(routes), config: bodiless })
    }
  })
}

type Exchange = Refusing & { readonly request: FastifyRequest; readonly reply: FastifyReply }

/** Says no in the family's own shape. */
export function refuse(family: Family, fault: Fault, { request, reply, clock, noteRefusal }: Exchange): FastifyReply {
  noteRefusal(request, fault)
  const { status, headers, body } = family.refuse(fault, request.id, pathOf(request.url))
  // What is left of an unread body is not worth reading.
  if (fault.kind === 'too_large' || fault.kind === 'timeout') {
    reply.header('connection', 'close')
    lingerBeforeClose(request.raw.socket, clock)
  }
  // A path that cannot be read is refused before any hook ran.
  return reply
    .code(status)
    .headers({ 'x-request-id': request.id, ...headers })
    .send(body)
}

/** The family whose shape a path gets, also where nothing lives at it. */
export function familyOf(families: readonly Family[], path: string): Family | undefined {
  const matches = families.flatMap((family) =>
    family.prefixes.filter((prefix) => path.startsWith(prefix)).map((prefix) => ({ family, prefix })),
  )
  return matches.sort((a, b) => b.prefix.length - a.prefix.length)[0]?.family
}

export const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

const pattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Told to the body's reader: an empty body is then none. */
const bodiless = { takesBody: false }

function routeOptions(route: Route) {
  const config = route.body === undefined ? bodiless : {}
  const options = { method: route.method, url: pattern(route.path), handler: route.handle, config }
  return route.bodyLimitBytes === undefined ? options : { ...options, bodyLimit: route.bodyLimitBytes }
}

function missing(routes: readonly Route[]) {
  const present = new Set<string>(routes.map((route) => route.method))
  if (present.has('GET')) present.add('HEAD') // answered by the GET route
  return methods.filter((method) => !present.has(method))
}

function notAllowed(routes: readonly Route[]) {
  const allow = routes.map((route) => route.method).join(', ')
  return async (request: FastifyRequest): Promise<never> => {
    const message = `${request.method} is not offered here; ${allow} is.`
    throw new Fault('method', 'method_not_allowed', message, { headers: { allow } })
  }
}
