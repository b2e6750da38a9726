import type { PerCategory } from './categories.ts'
import type { ClassifierIdentity, TextDirection } from './classifier.ts'

/** The port to the encoder: the slower, more accurate second stage of the embedded classifier. */
export type Encoder = {
  readonly identity: ClassifierIdentity
  readonly stack: EncoderStack
  /**
   * The logits of one text, without work on the event loop. Rejects with `EncoderUnavailable`, or the reason of `signal`; never
   * answers for a text that it did not read.
   */
  score(text: string, question?: EncoderQuestion, signal?: AbortSignal): Promise<PerCategory<number>>
}

/** What a text is read for. It decides when the text is read, if others wait. */
export type EncoderQuestion = {
  /** True for a category that is always blocked: such a text is read before others, and when those are over the share. */
  readonly isUrgent: boolean
  /** Organizations take turns. */
  readonly organizationId: string
}

/** The encoder has no answer for a text. Unless the reason is `off` or `closed`, it may have one later. */
export class EncoderUnavailable extends Error {
  readonly reason: 'starting' | 'busy' | 'over_share' | 'died' | 'failed' | 'off' | 'closed'

  constructor(reason: EncoderUnavailable['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** How the logits of the encoder and the scores of the first stage become one score. */
export type EncoderStack = {
  readonly categories: PerCategory<StackedCategory>
}

/**
 * score = 1 / (1 + e^(-slope (raw - threshold))), raw = encoder.weight * z(logit) + linear.weight * z(log-odds of the first
 * stage), z(x) = (x - mean) / deviation. A category with the encoder's weight 0 keeps the score of the first stage.
 */
export type StackedCategory = {
  /** The encoder is asked if the score of the first stage, in log-odds, is at least this. */
  readonly askFrom: number
  readonly encoder: StackedInput
  readonly linear: StackedInput
  readonly slope: number
  readonly thresholds: Readonly<Record<TextDirection, number>>
}

type StackedInput = { readonly weight: number; readonly mean: number; readonly deviation: number }
