import type { SpanContext } from '../../base/span-context.ts'
import type { EmbeddingsRequest } from './embeddings.ts'
import type { Chunk } from './events.ts'
import type { CallerFormat } from './formats.ts'
import type { OutputLimit } from './output-limit.ts'
import type { InferenceRequest, ModelRequest } from './request.ts'

/** One call of the pipeline to an upstream. */
export type ProviderCall<Request extends ModelRequest = InferenceRequest> = {
  readonly request: Request
  /** The upstream's own name for the model. */
  readonly model: string
  /** The output limit of the caller or of the catalogue. */
  readonly outputLimit: OutputLimit
  /** True if the call may wait until the upstream has a free slot. False if another target can be tried instead. */
  readonly mayQueue: boolean
  readonly requestId: string
  /** Aborted when the caller disconnects, the response is disposed of, or a deadline passes. */
  readonly signal: AbortSignal
  /** How long the gateway has waited for the caller to read. Undefined if nobody reads while the upstream sends. */
  readonly callerWaitMs?: (() => number) | undefined
  /** The span of this call. It is sent to upstreams whose configuration permits it. */
  readonly span?: SpanContext | undefined
  /** Called for each request field that this upstream cannot receive, with the field's name in the caller's format. */
  readonly onDropped: (field: string) => void
}

/** The port to a model upstream. The implementations are in `adapters/providers`. */
export type Provider = {
  readonly name: string
  /** Callers of this format get the upstream's raw bytes. Absent if the upstream uses a format that no caller uses. */
  readonly passthroughFor?: CallerFormat
  /**
   * Returns the response as a stream of chunks. The call starts when the first chunk is requested. Throws a `Fault`
   * (`upstream_*` or `validation`) before the first chunk if the call failed as a whole, because the router may then try
   * the next target. Ends only after an `end` event; a response that stops without one is a thrown `Fault`.
   */
  infer(call: ProviderCall): AsyncIterable<Chunk>
  /** Creates a vector for each input, as one chunk with its `vectors`. Left out by an upstream without embeddings. */
  readonly embed?: (call: ProviderCall<EmbeddingsRequest>) => AsyncIterable<Chunk>
  /** The input tokens that a response will report. Set by a provider without an upstream, which knows them in advance. */
  readonly inputTokensOf?: (request: InferenceRequest) => number
  /** Counts the input tokens of a request, if the upstream has an endpoint for it. */
  readonly countTokens?: (call: Pick<ProviderCall, 'request' | 'model' | 'signal'>) => Promise<number>
  /** The calls that have not ended; undefined for a provider without a network. */
  readonly inFlight?: () => number
  /** Asks the upstream which models it has. */
  readonly listModels?: (signal: AbortSignal) => Promise<readonly ListedModel[]>
}

/** A model in the list of an upstream. */
export type ListedModel = {
  readonly name: string
  /** The context window, if the upstream reports it. */
  readonly contextTokens?: number
}
