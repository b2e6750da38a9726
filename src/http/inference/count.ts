import type { FastifyRequest } from 'fastify'
import { isFault } from '../../base/fault.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { withLimitStatus } from '../../domain/limits/limited-fault.ts'
import type { CountTokens } from '../../pipeline/count-tokens.ts'
import type { Admission } from '../../pipeline/billing/admission.ts'
import type { CallerOf } from '../caller.ts'
import { droppedHeader, gatewayHeader } from '../gateway-headers.ts'
import { rateLimitHeaders } from '../rate-limit-headers.ts'
import type { InFlight } from './in-flight.ts'
import type { Route } from '../route.ts'

export type CountEndpointParts = {
  readonly callerOf: CallerOf
  readonly inFlight: InFlight
  readonly admission: Pick<Admission, 'count'>
  readonly countTokens: CountTokens
}

/** How a dialect decodes a request whose tokens are counted, and encodes the count. */
export type CountCodec = {
  readonly decode: (incoming: CountInput) => InferenceRequest | Promise<InferenceRequest>
  readonly present: (inputTokens: number) => object
  /** Fields of the request that only an upstream of this dialect applies before it counts. */
  readonly editingFields?: (request: InferenceRequest) => readonly string[]
  /** Headers that this dialect's clients read besides `x-request-id`. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>
}

export type CountInput = {
  readonly body: unknown
  readonly headers: FastifyRequest['headers']
  readonly principal: Principal
}

/** The OpenAPI description of the response, for every dialect. */
export const countDescription =
  'The count. `x-gatehouse-token-source` names the method: `upstream`, `tokenizer` (every text was counted), `sample` ' +
  '(over 100,000 characters: estimated from evenly spread samples, within 5 % for most texts), or `length` (the organization ' +
  'has too many counts in flight: estimated from the number of bytes, mostly too high).'

/** Counts the input tokens of a request. The call counts against the request limits only. */
export function createCountHandler(parts: CountEndpointParts, codec: CountCodec): Route['handle'] {
  const { callerOf, inFlight, admission, countTokens } = parts
  return async (request, reply) => {
    using inFlightRequest = inFlight.begin(reply)
    const principal = await callerOf.principal(request)
    const { limitStatus } = await admission.count(principal)
    try {
      const decodedRequest = await codec.decode({ body: request.body, headers: request.headers, principal })
      const { inputTokens, source, isPassthrough } = await countTokens({
        request: decodedRequest,
        principal,
        signal: inFlightRequest.signal,
      })
      const headers = {
        ...codec.headers?.(request.id),
        ...rateLimitHeaders(limitStatus),
        ...gatewayHeader('x-gatehouse-token-source', source),
        ...droppedHeader(isPassthrough ? [] : (codec.editingFields?.(decodedRequest) ?? [])),
      }
      return await reply.headers(headers).send(codec.present(inputTokens))
    } catch (error) {
      throw isFault(error) ? withLimitStatus(error, limitStatus) : error
    }
  }
}
