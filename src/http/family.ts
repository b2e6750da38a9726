import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import { faultOf } from './framework-fault.ts'
import type { Family, Route } from './route.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type RefusalNote = (request: FastifyRequest, fault: Fault) => void

/** A family is a plugin: its way of saying no cannot leak into the next. */
export async function registerFamily(app: FastifyInstance, family: Family, noteRefusal: RefusalNote): Promise<void> {
  await app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => refuse(family, faultOf(error), { request, reply, noteRefusal }))
    for (const [path, routes] of Map.groupBy(family.routes, (route) => route.path)) {
      for (const route of routes) scope.route(routeOptions(route))
      scope.route({ method: missing(routes), url: pattern(path), handler: notAllowed(routes) })
    }
  })
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly noteRefusal: RefusalNote }

/** Says no in the family's own shape. */
export function refuse(family: Family, fault: Fault, { request, reply, noteRefusal }: Exchange): FastifyReply {
  noteRefusal(request, fault)
  const { status, headers, body } = family.refuse(fault, request.id, pathOf(request.url))
  // What is left of an unread body is not worth reading.
  if (fault.kind === 'too_large' || fault.kind === 'timeout') reply.header('connection', 'close')
  return reply.code(status).headers(headers).send(body)
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

function routeOptions(route: Route) {
  const options = { method: route.method, url: pattern(route.path), handler: route.handle }
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
