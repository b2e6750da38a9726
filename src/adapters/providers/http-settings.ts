import type { Dispatcher } from 'undici'
import type { Clock } from '../../base/clock.ts'
import type { ProofSeal } from './reasoning-proof.ts'
import type { EstimateTokens } from './answering/usage.ts'
import type { AnswerMemory } from './network/answer-memory.ts'
import type { TimeLimits } from './network/watch.ts'

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
  readonly proofSeal: ProofSeal
  readonly answerMemory: AnswerMemory
}
