import type { FastifyRequest } from 'fastify'
import { Fault } from '../base/fault.ts'
import { pathOf } from './family.ts'
import { HttpFault } from './fault-headers.ts'
import type { EndpointFamily } from './route.ts'

/**
 * Says why no route takes a request: its path takes other methods, or nothing is there. The server asks before it reads a
 * byte of the body. The router knows only the methods that are offered, because HTTP has dozens of others.
 */
export function createUnmatched(families: readonly EndpointFamily[]): (request: FastifyRequest) => Fault {
  const offers = families
    .flatMap((family) => family.routes)
    .map(({ method, path }) => ({ method, pattern: patternOf(path) }))
  return ({ method, url }) => {
    const path = decoded(pathOf(url))
    const found = offers.filter(({ pattern }) => pattern.test(path)).map((offer) => offer.method)
    if (found.length > 0) return notAllowed(method, [...new Set(found)].join(', '))
    return new Fault('not_found', 'unknown_route', `No route for ${method} ${pathOf(url).slice(0, 200)}.`)
  }
}

function notAllowed(method: string, allow: string): Fault {
  const message = `${method} is not allowed for this path; use ${allow}.`
  return new HttpFault({ kind: 'method', code: 'method_not_allowed', message }, { allow })
}

/** `/v1/models/{model}` as the router reads it: a name takes everything up to the next slash. */
const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]*')}$`)

/** The router has refused what cannot be decoded, but it reads less of an address: a fragment is left to us. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
