import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { SignatureEncryption } from './reasoning-signature.ts'
import type { EstimateTokens } from './decoding/usage.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import type { TimeLimits } from './network/timeouts.ts'

/** Where an upstream is, and how patient we are with it. */
export type HttpProviderSettings = TimeLimits & {
  readonly name: string
  readonly url: URL
  /** Sent with every call. Names in small letters; they win over those of the call itself. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly maxConcurrent?: number
  /** Bytes of a whole answer, of a frame, and of the text of a stream. */
  readonly maxAnswerBytes: number
}

/** What a provider behind HTTP is made of. */
export type HttpProviderParts = {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly estimateTokens: EstimateTokens
  readonly proofSeal: SignatureEncryption
  readonly answerMemory: AnswerMemoryBudget
}
