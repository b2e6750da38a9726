import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { IterableStream, pending } from '../../base/pull-stream.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { Provider, ProviderCall } from '../../domain/inference/provider.ts'
import type { InferenceRequest, ReasoningSignature } from '../../domain/inference/request.ts'
import { createEventWriter } from './decoding/event-writer.ts'
import { createEmbed } from './embeddings.ts'
import { createFrameCache } from './decoding/frame-cache.ts'
import { createOutOfBandReader } from './decoding/out-of-band.ts'
import { decodeDocument, decodeRead, type RawPassthrough, type ResponseReader } from './decoding/response-reader.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { EncodeContext, EncodedRequest } from './encoding/encoding.ts'
import { createToolNames } from './encoding/tool-names.ts'
import { responseTooLong, upstreamFailed } from './failures.ts'
import type { JsonRecord } from './json-values.ts'
import { throwWithoutSecrets, withoutSecrets } from './mask-secrets.ts'
import { createModelList, type ReadModels } from './model-list.ts'
import type { AnswerMemoryBudget, MemoryLease } from './network/answer-memory-budget.ts'
import { createCaller, type UpstreamCaller, type UpstreamRequest, type UpstreamResponse } from './network/call.ts'
import type { OnQueued } from './network/call-slots.ts'
import type { TimeLimits } from './network/timeouts.ts'
import type { SignatureEnvelope } from './reasoning-signature.ts'
import { spanHeaders } from './span-headers.ts'
import type { Decoder, TokenCounterSpec, WireFormat } from './wire-format.ts'

/** The address, timeouts and limits of one upstream. */
export type HttpProviderSettings = TimeLimits & {
  readonly name: string
  readonly url: URL
  /** Where the upstream creates embeddings; undefined if it has none. */
  readonly embeddingsUrl?: URL | undefined
  /** Where the upstream lists its models. */
  readonly modelsUrl: URL
  readonly readModels: ReadModels
  /** Sent with every call. Names are lower case. They override the headers of the wire format. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly maxConcurrent?: number
  readonly queueTimeoutMs?: number
  /** Whether the upstream gets the trace context of each call. */
  readonly sendsSpan?: boolean | undefined
  /** Applies to a whole response, to one frame, and to the text of a stream. */
  readonly maxAnswerBytes: number
}

export type HttpProviderParts = {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly estimateTokens: EstimateTokens
  readonly signatureEnvelope: SignatureEnvelope
  readonly answerMemory: AnswerMemoryBudget
  readonly onQueued?: OnQueued | undefined
  /** What the upstream's errors must not repeat to callers. */
  readonly secrets: () => readonly string[]
}

/** A provider that is reached over HTTP: a wire format combined with the network. */
export function createHttpProvider(
  format: WireFormat,
  settings: HttpProviderSettings,
  parts: HttpProviderParts,
): Provider {
  const post = createCaller({ ...settings, readError: format.readError }, parts)
  const embedder = createEmbed(settings, parts)
  return {
    name: settings.name,
    ...(format.passthroughFor && { passthroughFor: format.passthroughFor }),
    infer: (call) => new ResponseStream({ format, settings, parts, post, call }),
    inFlight: () => post.inFlight() + (embedder?.inFlight() ?? 0),
    ...(format.tokenCounter && { countTokens: createTokenCounter(format, format.tokenCounter, { settings, parts }) }),
    ...(embedder && { embed: embedder.embed }),
    listModels: createModelList(settings, parts),
  }
}

type UpstreamExchange = {
  readonly format: WireFormat
  readonly settings: HttpProviderSettings
  readonly parts: HttpProviderParts
  readonly post: UpstreamCaller
  readonly call: ProviderCall
}

type Polled = Chunk | typeof pending | undefined

/** Yields one chunk per network read. Ends after the `end` event, or throws a `Fault`. */
class ResponseStream extends IterableStream<Chunk> {
  readonly exchange: UpstreamExchange
  readonly lease: MemoryLease
  started: Started | undefined = undefined

  constructor(exchange: UpstreamExchange) {
    super()
    this.exchange = exchange
    this.lease = exchange.parts.answerMemory.open()
  }

  override poll(): MaybePromise<Polled> {
    return this.started === undefined ? this.start() : this.next(this.started)
  }

  override onReadable(wake: () => void): void {
    const response = this.started?.response
    if (response?.kind === 'stream') response.frames.onReadable(wake)
    else wake()
  }

  override async stop(): Promise<void> {
    if (this.started?.response.kind === 'stream') this.started.response.frames.cancel()
    this.lease.release()
  }

  async start(): Promise<Polled> {
    try {
      const { call, post } = this.exchange
      const prepared = prepare(this.exchange, this.lease)
      const response = await post(prepared.outgoing, call.signal, this.lease)
      this.started = { response, reader: readerFor(this.exchange, prepared, response.kind) }
    } catch (error) {
      return this.fail(error)
    }
    return this.poll()
  }

  /** Releases the lease with the end of the response, because the pipeline does not call `stop` on one that is paid for. */
  next(started: Started): Polled {
    try {
      const polled = pollChunk(started)
      if (started.reader.writer.hasEnded()) this.lease.release()
      return polled
    } catch (error) {
      return this.fail(error)
    }
  }

  /** Releases the lease here, because consumers do not call `stop` on a stream that has thrown. */
  fail(error: unknown): never {
    this.lease.release()
    throw withoutSecrets(error, this.exchange.parts.secrets())
  }
}

type Started = { readonly response: UpstreamResponse; readonly reader: ResponseReader }

function readerFor(
  { format, call }: UpstreamExchange,
  { writer, requestBody, onText }: Prepared,
  kind: UpstreamResponse['kind'],
): ResponseReader {
  const decoder = format.createDecoder(writer)
  return {
    decoder,
    writer,
    frameCache: kind === 'stream' && format.allowsFrameCache ? createFrameCache() : undefined,
    onText,
    passthrough: passthroughOf(format, { request: call.request, requestBody, decoder }),
    hasStarted: false,
    outOfBand: [],
    failure: undefined,
  }
}

/** Undefined if the caller uses another format than the upstream. */
function passthroughOf(
  format: WireFormat,
  from: { readonly request: InferenceRequest; readonly requestBody: JsonRecord; readonly decoder: Decoder },
): RawPassthrough | undefined {
  const { raw, stop } = from.request
  if (format.passthroughFor !== raw.dialect) return undefined
  const { requestBody, decoder } = from
  return {
    dialect: raw.dialect,
    conformance: format.createConformanceCheck(),
    shape: format.shape,
    outOfBandReader: createOutOfBandReader({ requestBody, stops: stop, isEmitted: decoder.isEmitted }),
  }
}

function pollChunk({ response, reader }: Started): Polled {
  const { writer } = reader
  if (writer.hasEnded()) return undefined
  if (response.kind === 'document') return decodeDocument(response.body, reader)
  for (;;) {
    // The events before a failure were delivered by the previous poll.
    if (reader.failure !== undefined) throw reader.failure
    const frames = response.frames.poll()
    if (frames === pending) return pending
    const chunk = decodeRead(frames, reader)
    if (reader.hasStarted) response.frames.markStarted()
    if (reader.failure !== undefined || writer.wasCutByStop()) response.frames.cancel()
    else if (writer.hasEnded()) response.frames.complete()
    if (chunk !== undefined) return chunk
  }
}

type Prepared = Pick<ResponseReader, 'writer' | 'onText'> & {
  readonly outgoing: UpstreamRequest
  readonly requestBody: JsonRecord
}

function prepare({ format, settings, parts, call }: UpstreamExchange, lease: MemoryLease): Prepared {
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
function createTokenCounter(
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
