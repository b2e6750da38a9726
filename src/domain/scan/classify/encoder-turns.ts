import type { Clock } from '../../../base/clock.ts'
import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { EncoderQuestion } from './encoder.ts'
import type { AskEncoder, EncoderAnswer } from './encoder-calls.ts'

/** Asks the encoder about several texts, one after the other. Returns an answer for each. */
export type AskInTurn = (texts: readonly string[], question: EncoderQuestion) => MaybePromise<readonly EncoderAnswer[]>

/** The waits of one streamed text for the encoder. After it was late once, the text no longer waits for it. */
export type EncoderTurns = {
  /** Starts one wait. `isWhole`: the text arrives as a whole, so that nobody reads its beginning meanwhile. */
  start(isWhole: boolean): AskInTurn
  /** Prefetches logits into the cache. Stops prefetching after the first timeout. */
  prefetch(texts: readonly string[], question: EncoderQuestion): MaybePromise<unknown>
}

export type EncoderTurnsParts = {
  readonly ask: AskEncoder
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** How long a streamed text waits for one answer, and how long a turn takes at most. A text that arrives as a whole has all of it. */
  readonly limits: { readonly streamLimitMs: number; readonly textLimitMs: number }
}

export function createEncoderTurns({ ask, clock, limits }: EncoderTurnsParts): EncoderTurns {
  let isLate = false
  let hasPrefetchTimedOut = false

  return {
    start(isWhole) {
      const endsAtMs = clock.monotonicMs() + limits.textLimitMs
      const answerLimitMs = isWhole ? limits.textLimitMs : limits.streamLimitMs
      return (texts, question) => {
        const answers: EncoderAnswer[] = []
        const askOne = (text: string): MaybePromise<unknown> => {
          const leftMs = isLate ? 0 : Math.min(answerLimitMs, endsAtMs - clock.monotonicMs())
          return andThen(leftMs > 0 ? ask([text], question, leftMs) : lateAnswer, (given) => {
            answers.push(...given)
            isLate ||= given.includes('linear_encoder_late')
          })
        }
        return andThen(sequentially(texts, askOne), () => answers)
      }
    },
    prefetch: (texts, question) =>
      sequentially(texts, (text) => {
        if (isLate || hasPrefetchTimedOut) return undefined
        return andThen(ask([text], question, limits.streamLimitMs), (given) => {
          hasPrefetchTimedOut = given.includes('linear_encoder_late')
        })
      }),
  }
}

const lateAnswer: readonly EncoderAnswer[] = ['linear_encoder_late']
