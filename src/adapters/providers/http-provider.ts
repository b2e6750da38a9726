import type { MaybePromise } from '../../base/maybe-promise.ts'
import { IterableStream, pending } from '../../base/pull-stream.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { createEmbed } from './embeddings.ts'
import { createFrameCache } from './decoding/frame-cache.ts'
import { createOutOfBandReader } from './decoding/out-of-band.ts'
import { decodeDocument, decodeRead, type RawPassthrough, type ResponseReader } from './decoding/response-reader.ts'
import type { JsonRecord } from './json-values.ts'
import { withoutSecrets } from './mask-secrets.ts'
import { createModelList } from './model-list.ts'
import type { MemoryLease } from './network/answer-memory-budget.ts'
import { createCaller, type UpstreamResponse } from './network/call.ts'
import type { Decoder, WireFormat } from './wire-format.ts'
import { createTokenCounter, type Prepared, prepare } from './prepare-call.ts'
import type { HttpProviderSettings, HttpProviderParts, UpstreamExchange } from './http-exchange.ts'

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
