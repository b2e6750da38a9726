import type { Provider } from '../../domain/inference/provider.ts'
import type { InferenceRequest, ReasoningSignature } from '../../domain/inference/request.ts'
import { createEventWriter } from './decoding/event-writer.ts'
import type { ResponseReader } from './decoding/response-reader.ts'
import type { EncodeContext, EncodedRequest } from './encoding/encoding.ts'
import { createToolNames } from './encoding/tool-names.ts'
import { responseTooLong, upstreamFailed } from './failures.ts'
import type { JsonRecord } from './json-values.ts'
import { throwWithoutSecrets } from './mask-secrets.ts'
import type { MemoryLease } from './network/answer-memory-budget.ts'
import { createCaller, type UpstreamRequest } from './network/call.ts'
import { spanHeaders } from './span-headers.ts'
import type { TokenCounterSpec, WireFormat } from './wire-format.ts'
import type { HttpProviderParts, UpstreamExchange } from './http-exchange.ts'

export type Prepared = Pick<ResponseReader, 'writer' | 'onText'> & {
  readonly outgoing: UpstreamRequest
  readonly requestBody: JsonRecord
}

/** Encodes a request for the upstream, and prepares what decodes its response. */
export function prepare({ format, settings, parts, call }: UpstreamExchange, lease: MemoryLease): Prepared {
  const { request, model, requestId } = call
  const toolNames = toolNamesOf(request)
  const encoded = encode(format, { call, toolNames }, parts)
  const wrapSignature = (signature: ReasoningSignature, text: string): ReasoningSignature | undefined => {
    if (request.raw.dialect === format.passthroughFor) return signature
    // Chat completions has no field that could carry a signature back.
    return request.raw.dialect === 'chat' ? undefined : parts.signatureEnvelope.wrap(signature, { text, model })
  }
  const onText = boundText(settings.maxAnswerBytes, lease)
  const writer = createEventWriter({
    request,
    requestId,
    model,
    toolNames,
    stops: encoded.stops,
    estimateTokens: parts.estimateTokens,
    wrapSignature,
    onText,
  })
  const wantsStream = encoded.wantsStream ?? encoded.body['stream'] === true
  const accept = wantsStream ? 'text/event-stream' : 'application/json'
  // Not `x-request-id`: some servers reject every request whose value there is not a UUID.
  const headers = {
    ...encoded.headers,
    accept,
    'x-client-request-id': requestId,
    ...(settings.sendsSpan && spanHeaders(call.span)),
    ...settings.headers(),
  }
  const body = JSON.stringify(encoded.body)
  return {
    writer,
    outgoing: {
      headers,
      path: encoded.path,
      body,
      wantsStream,
      mayQueue: call.mayQueue,
      callerWaitMs: call.callerWaitMs,
    },
    requestBody: encoded.body,
    onText,
  }
}

/** Text stays in memory until the response ends, parts of it more than once, so its total length is limited. */
function boundText(maxBytes: number, lease: MemoryLease): (length: number) => void {
  let total = 0
  return (length) => {
    total += length
    if (total > maxBytes) throw responseTooLong('text', maxBytes)
    lease.reserve(length)
  }
}

const toolNamesOf = ({ tools }: InferenceRequest) => createToolNames(tools.map((tool) => tool.name))

function encode(
  format: WireFormat,
  { call, toolNames }: Pick<EncodeContext, 'call' | 'toolNames'>,
  { signatureEnvelope }: HttpProviderParts,
): EncodedRequest {
  const source = { format: format.name, model: call.model }
  return format.encode({
    call,
    toolNames,
    unwrapSignature: (signature) => signatureEnvelope.unwrap(signature, source),
  })
}

/** Calls the vendor's token counting endpoint with the body that the inference request would have. */
export function createTokenCounter(
  format: WireFormat,
  counter: TokenCounterSpec,
  { settings, parts }: Pick<UpstreamExchange, 'settings' | 'parts'>,
): NonNullable<Provider['countTokens']> {
  const post = createCaller({ ...settings, readError: format.readError }, parts)
  return async ({ request, model, signal }) => {
    const unlimited = { outputLimit: { tokens: 1, isExplicit: false }, mayQueue: false }
    const call = { request, model, signal, ...unlimited, requestId: '', onDropped: () => {} }
    const encoded = encode(format, { call, toolNames: toolNamesOf(request) }, parts)
    const { path, body } = counter.encode(encoded, model)
    const outgoing = {
      headers: { ...encoded.headers, ...settings.headers() },
      path,
      body: JSON.stringify(body),
      wantsStream: false,
      mayQueue: false,
    }
    const lease = parts.answerMemory.open()
    const response = await post(outgoing, signal, lease)
      .catch(throwWithoutSecrets(parts))
      .finally(() => lease.release())
    const count = response.kind === 'document' ? response.body[counter.countField] : undefined
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
    throw upstreamFailed('The model’s upstream did not return a token count.')
  }
}
