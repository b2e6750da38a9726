import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import { pathOf } from './family.ts'
import { HttpFault } from './fault-headers.ts'
import type { EndpointFamily } from './route.ts'

/**
 * The fault for a request that matches no route: 405 if the path has other methods, else 404. The server calls it before
 * it reads the body. It matches paths itself, because the router knows only the methods that have routes.
 */
export function createUnmatched(families: readonly EndpointFamily[]): (request: FastifyRequest) => Fault {
  const routes = families
    .flatMap((family) => family.routes)
    .map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return ({ method, url }) => {
    const path = decoded(pathOf(url))
    const methods = routes.filter(({ pattern }) => pattern.test(path)).map((route) => route.method)
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
