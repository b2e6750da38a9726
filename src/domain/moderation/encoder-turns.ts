import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { AskEncoder, EncoderAnswer } from './encoder-calls.ts'

/** Asks the encoder about several texts within the time limit of one turn. */
export type AskInTurn = (texts: readonly string[]) => MaybePromise<readonly EncoderAnswer[]>

/** Starts one wait for the encoder. `isWhole`: the text arrives as a whole, so that nobody reads its beginning meanwhile. */
export type StartTurn = (isWhole: boolean) => AskInTurn

export type EncoderTurnsParts = {
  readonly ask: AskEncoder
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** How long a part of a streamed text waits for the encoder, and one that arrives as a whole. */
  readonly limits: { readonly streamLimitMs: number; readonly textLimitMs: number }
}

/** The waits of one streamed text for the encoder. After it was late once, the text no longer waits for it. */
export function createEncoderTurns({ ask, clock, limits }: EncoderTurnsParts): StartTurn {
  let isLate = false

  const noteLate = (answers: readonly EncoderAnswer[]): readonly EncoderAnswer[] => {
    isLate ||= answers.includes('linear_encoder_late')
    return answers
  }

  return (isWhole) => {
    const endsAtMs = clock.monotonicMs() + (isWhole ? limits.textLimitMs : limits.streamLimitMs)
    return (texts) => {
      const leftMs = isLate ? 0 : endsAtMs - clock.monotonicMs()
      return leftMs > 0 ? andThen(ask(texts, leftMs), noteLate) : noteLate(texts.map(() => 'linear_encoder_late'))
    }
  }
}
