import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../domain/identity/principal.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { CountTokens } from '../../pipeline/count-tokens.ts'
import type { Admission } from '../../pipeline/billing/admission.ts'
import type { CallerOf } from '../caller.ts'
import { gatewayHeader } from '../gateway-headers.ts'
import { rateLimitHeaders } from '../rate-limit-headers.ts'
import type { InFlight } from './in-flight.ts'
import type { Route } from '../route.ts'

export type CountEndpointParts = {
  readonly callerOf: CallerOf
  readonly inFlight: InFlight
  readonly admission: Pick<Admission, 'count'>
  readonly countTokens: CountTokens
}

/** How a dialect reads a request that is only counted, and says the number. */
export type CountCodec = {
  readonly decode: (incoming: CountInput) => InferenceRequest | Promise<InferenceRequest>
  readonly present: (inputTokens: number) => object
  /** Headers that this dialect's clients look for besides `x-request-id`. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>
}

export type CountInput = {
  readonly body: unknown
  readonly headers: FastifyRequest['headers']
  readonly principal: Principal
}

/** What the manual says of the answer, in every dialect. */
export const countDescription =
  'The count. `x-gatehouse-token-source` tells how it was made: `upstream`, `tokenizer` (every text was counted), `sample` ' +
  '(over 100,000 characters: estimated from evenly spread samples, within 5 % for most texts), or `length` (the organization ' +
  'has too many counts under way: estimated from the number of bytes, mostly too high).'

/** Counts as a request and as nothing else. */
export function createCountHandler(parts: CountEndpointParts, door: CountCodec): Route['handle'] {
  const { callerOf, inFlight, admission, countTokens } = parts
  return async (request, reply) => {
    using underway = inFlight.begin(reply)
    const principal = await callerOf.principal(request)
    const verdict = await admission.count(principal)
    const asked = await door.decode({ body: request.body, headers: request.headers, principal })
    const { inputTokens, source } = await countTokens({ request: asked, principal, signal: underway.signal })
    const headers = {
      ...door.headers?.(request.id),
      ...rateLimitHeaders(verdict.limitStatus),
      ...gatewayHeader('x-gatehouse-token-source', source),
    }
    return await reply.headers(headers).send(door.present(inputTokens))
  }
}
