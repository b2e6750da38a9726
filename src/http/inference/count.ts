import type { FastifyRequest } from 'fastify'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { CountTokens } from '../../pipeline/count-tokens.ts'
import type { Admission } from '../../pipeline/paying/admission.ts'
import type { CallerOf } from '../caller.ts'
import type { InFlight } from './in-flight.ts'
import type { Route } from '../route.ts'

export type CountParts = {
  readonly callerOf: CallerOf
  readonly inFlight: InFlight
  readonly admission: Pick<Admission, 'count'>
  readonly countTokens: CountTokens
}

/** How a dialect reads a request that is only counted, and says the number. */
export type CountDoor = {
  readonly decode: (body: unknown, headers: FastifyRequest['headers']) => InferenceRequest
  readonly present: (inputTokens: number) => object
  /** Headers that this dialect's clients look for besides `x-request-id`. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>
}

/** Counts as a request and as nothing else. */
export function createCountHandler(parts: CountParts, door: CountDoor): Route['handle'] {
  const { callerOf, inFlight, admission, countTokens } = parts
  return async (request, reply) => {
    using underway = inFlight.begin(reply)
    const principal = await callerOf.principal(request)
    await admission.count(principal)
    const asked = door.decode(request.body, request.headers)
    const { inputTokens, source } = await countTokens({ request: asked, principal, signal: underway.signal })
    reply.headers({ ...door.headers?.(request.id), 'x-gateway-token-source': source })
    return await reply.send(door.present(inputTokens))
  }
}
