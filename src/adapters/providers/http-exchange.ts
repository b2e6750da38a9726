import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { ProviderCall } from '../../domain/inference/provider.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { ReadModels } from './model-list.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import type { UpstreamCaller } from './network/call.ts'
import type { OnQueued } from './network/call-slots.ts'
import type { TimeLimits } from './network/timeouts.ts'
import type { SignatureEnvelope } from './reasoning-signature.ts'
import type { WireFormat } from './wire-format.ts'

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
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly clock: Clock
  readonly estimateTokens: EstimateTokens
  readonly signatureEnvelope: SignatureEnvelope
  readonly answerMemory: AnswerMemoryBudget
  readonly onQueued?: OnQueued | undefined
  /** What the upstream's errors must not repeat to callers. */
  readonly secrets: () => readonly string[]
}

export type UpstreamExchange = {
  readonly format: WireFormat
  readonly settings: HttpProviderSettings
  readonly parts: HttpProviderParts
  readonly post: UpstreamCaller
  readonly call: ProviderCall
}
