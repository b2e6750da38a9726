import type { FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { Fault } from '../../base/fault.ts'
import { createQueryValidator, createValidator } from '../validate.ts'
import { withCursorError } from './list.ts'

/** Path parameters, query and body of a request; `none` for absent ones. */
export type RequestInput<Params, Query, Body> = { readonly params: Params; readonly query: Query; readonly body: Body }

/** Validates and decodes a request. */
export function createRequestReader<Params extends TObject, Query extends TObject, Body extends TObject>(
  schemas: RequestInput<Params, Query, Body>,
) {
  const readParams = createQueryValidator(schemas.params)
  const readQuery = withCursorError(createQueryValidator(schemas.query))
  const readBody = createValidator(schemas.body)
  const mayBeEmpty = Object.keys(schemas.body.properties).length === 0
  return (request: FastifyRequest) => ({
    params: readParams(request.params),
    query: readQuery(request.query),
    body: readBody(request.body ?? (mayBeEmpty ? {} : missingBody())),
  })
}

function missingBody(): never {
  throw new Fault('malformed', 'invalid_json', 'The body must be a JSON object.')
}
