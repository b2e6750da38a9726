import type { FastifyRequest } from 'fastify'
import type { InferenceRequest } from '../domain/inference/request.ts'
import type { CountTokens } from '../pipeline/count-tokens.ts'
import type { CallerOf } from './caller.ts'
import type { InFlight } from './in-flight.ts'
import type { Route } from './route.ts'

export type CountParts = { readonly callerOf: CallerOf; readonly inFlight: InFlight; readonly countTokens: CountTokens }

/** How a dialect reads a request that is only counted, and says the number. */
export type CountDoor = {
  readonly decode: (body: unknown, headers: FastifyRequest['headers']) => InferenceRequest
  readonly present: (inputTokens: number) => object
}

export function createCountHandler({ callerOf, inFlight, countTokens }: CountParts, door: CountDoor): Route['handle'] {
  return async (request, reply) => {
    using underway = inFlight.begin(reply)
    const principal = await callerOf.principal(request)
    const asked = door.decode(request.body, request.headers)
    const { inputTokens, source } = await countTokens({ request: asked, principal, signal: underway.signal })
    return await reply.header('x-gateway-token-source', source).send(door.present(inputTokens))
  }
}
