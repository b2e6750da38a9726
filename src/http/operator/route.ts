import type { Static, TObject } from 'typebox'
import { none } from '../resources/fields.ts'
import type { Administrator } from '../../domain/identity/principal.ts'
import type { ResourceRoutes } from '../resources/route.ts'
import type { ResourceStores } from '../resources/spec.ts'
import type { Route, RouteAnswer } from '../route.ts'
import { createQueryValidator, createValidator } from '../validate.ts'

/** Makes routes about one organization. Only the operator calls them. */
export type OperatorRoutes<Reads, Stores = Reads> = ResourceRoutes<
  Administrator,
  Stores & ResourceStores,
  Reads & ResourceStores
>

type InstallationSpec<Query extends TObject, Body extends TObject> = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly query?: Query
  readonly body?: Body
  readonly status?: 200 | 201
  readonly answer: RouteAnswer
  readonly operation: (input: { readonly query: Static<Query>; readonly body: Static<Body> }) => Promise<unknown>
}

/** A route about the whole installation. It needs no organization; routes about one come from `createResourceRoutes`. */
export function installationRoute<Query extends TObject = typeof none, Body extends TObject = typeof none>(
  spec: InstallationSpec<Query, Body>,
): Route {
  const { name, method, path, summary, description, query, body, status = 200 } = spec
  const readQuery = createQueryValidator<TObject>(query ?? none)
  const readBody = createValidator<TObject>(body ?? none)
  return {
    name,
    method,
    path,
    summary,
    ...(description !== undefined && { description }),
    credential: 'operator',
    ...(query && { query }),
    ...(body && { body }),
    answers: { [status]: spec.answer },
    errorStatuses: [400, 404, 409, 413, 422, 500, 503],
    async handle(request, reply) {
      const input = { query: readQuery(request.query), body: readBody(request.body ?? {}) }
      reply.code(status)
      return spec.operation(input as { query: Static<Query>; body: Static<Body> })
    },
  }
}
