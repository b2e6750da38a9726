import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../domain/identity/principal.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { CountTokens } from '../../pipeline/operations/count-tokens.ts'
import type { RunCounted } from '../../pipeline/run-counted.ts'
import type { CallerOf } from '../caller.ts'
import { droppedHeader, gatewayHeader } from '../gateway-headers.ts'
import { rateLimitHeaders } from '../rate-limit-headers.ts'
import type { InFlight } from './in-flight.ts'
import type { Route } from '../route.ts'

export type CountEndpointParts = {
  readonly callerOf: CallerOf
  readonly inFlight: InFlight
  readonly runCounted: RunCounted
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
  const { callerOf, inFlight, runCounted, countTokens } = parts
  return async (request, reply) => {
    using inFlightRequest = inFlight.begin(reply)
    const principal = await callerOf.principal(request)
    const decode = () => codec.decode({ body: request.body, headers: request.headers, principal })
    const { result, limitStatus } = await runCounted(
      async (call) => ({ ...(await countTokens(call)), request: call.request }),
      { principal, signal: inFlightRequest.signal, decode },
    )
    const headers = {
      ...codec.headers?.(request.id),
      ...rateLimitHeaders(limitStatus),
      ...gatewayHeader('x-gatehouse-token-source', result.source),
      ...droppedHeader(result.isPassthrough ? [] : (codec.editingFields?.(result.request) ?? [])),
    }
    return await reply.headers(headers).send(codec.present(result.inputTokens))
  }
}
