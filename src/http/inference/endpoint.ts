import Type from 'typebox'
import type { ModelRequest } from '../../domain/inference/request.ts'
import { policyHeaders } from './reading/policy-headers.ts'
import { tagsHeader } from './reading/tags.ts'
import type { Route } from '../route.ts'
import type { InferenceParts, DialectCodec } from './codec.ts'
import { createResponder } from './respond.ts'

export const maxInferenceBytes = 32 * 1024 * 1024

export const inferenceErrorStatuses = [400, 401, 402, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504] as const

export const InferenceHeaders = Type.Object({
  ...policyHeaders,
  ...tagsHeader,
  'X-Free-Tier': Type.Optional(
    Type.Enum(['true'], { description: 'Selects the single anonymous free request; send no credential with it.' }),
  ),
})

/** The handler of a dialect's endpoint. */
export function createInferenceHandler<Request extends ModelRequest>(
  parts: InferenceParts,
  codec: DialectCodec<Request>,
): Route['handle'] {
  const respond = createResponder(parts, codec, { method: 'POST', path: codec.path, status: 200 })
  return (request, reply) =>
    respond({ request, reply, body: request.body, identify: () => parts.callerOf.principalOrFree(request) })
}
