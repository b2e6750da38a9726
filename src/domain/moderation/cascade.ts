import { andThen } from '../../base/maybe-promise.ts'
import { noClassification, strongest } from './classifier.ts'
import type { Classification, Classifier, SynchronousClassifier, TextDirection } from './classifier.ts'
import type { JudgeText } from './cascade-places.ts'
import { createCascadeStream, type SettleText } from './cascade-stream.ts'
import { perCategory } from './categories.ts'
import type { Encoder, EncoderStack } from './encoder.ts'
import { createAskEncoder, type EncoderAnswer, type EncoderCallsParts } from './encoder-calls.ts'
import { createEncoderTurns } from './encoder-turns.ts'
import { partsNotEnglish } from './english.ts'
import { stackScores } from './stacked-scores.ts'
import { textWindows } from './text-windows.ts'

export type CascadeParts = Omit<EncoderCallsParts, 'encoder'> & {
  /** Classifies every text at once. */
  readonly first: SynchronousClassifier
  /** Reads only texts that the first stage scores high enough. */
  readonly encoder: Encoder
  /** True once it is known that the encoder cannot work here. Then the first stage classifies alone. */
  readonly isOff?: () => boolean
}

/** How long a complete text, and a streamed text, waits for the encoder. */
const textLimitMs = 1_000
const streamLimitMs = 150

/**
 * The embedded classifier with the encoder as its second stage. A text that the first stage scores low is not read again, and its
 * result is there at once. If the encoder is late or fails, the result of the first stage is used, and is provisional.
 */
export function createCascade(parts: CascadeParts): Classifier {
  const { first, encoder, clock, onResult, isOff = never } = parts
  const { stack } = encoder
  const ask = createAskEncoder({ encoder, clock, onResult })
  const identity = joinIdentities(first, encoder)
  const isScoredHigh = createIsNear(stack)
  const isNear = (linear: Classification): boolean => isScoredHigh(linear) && !isOff()

  /**
   * The windows of a text that the first stage scores high enough, at most four, those with the highest scores. If only the whole
   * text scores so high, the highest four of all.
   */
  function nearWindows(windows: readonly string[], direction: TextDirection): readonly string[] {
    if (windows.length === 1) return windows
    const scored = windows.map((window) => ({ window, linear: first.classify(window, direction) }))
    const near = scored.filter(({ linear }) => isNear(linear))
    return (near.length > 0 ? near : scored)
      .toSorted((one, other) => highestScore(other.linear) - highestScore(one.linear))
      .slice(0, mostWindows)
      .map(({ window }) => window)
  }

  const settle: SettleText = (linear, { text, direction, ask: askInTurn }) => {
    if (!isNear(linear)) return linear
    const windows = textWindows(text).filter((window) => letter.test(window))
    if (windows.length === 0) return linear
    const asked = nearWindows(windows, direction)
    const stackAll = (answers: readonly EncoderAnswer[]): Classification =>
      judged(linear, answers, { direction, unread: windows.length - asked.length, windows: asked })
    return andThen(askInTurn(asked), stackAll)
  }

  const judged: JudgeText = (linear, answers, text) => {
    const missed = answers.find((answer) => typeof answer === 'string')
    if (missed !== undefined) return { ...linear, isProvisional: true, stage: missed }
    const { windows, direction } = text
    const notEnglish = windows
      .map((window) => partsNotEnglish(window))
      .filter((part) => part !== '')
      .map((part) => first.classify(part, direction))
      .reduce(strongest, noClassification)
    const logits = answers.filter((answer) => typeof answer !== 'string')
    return stackScores(stack, { ...text, linear, logits, notEnglish })
  }

  const classify: Classifier['classify'] = (text, direction) =>
    settle(first.classify(text, direction), { text, direction, ask: (texts) => ask(texts, textLimitMs) })

  return {
    get identity() {
      return isOff() ? first.identity : identity
    },
    classify,
    startStream: (direction) =>
      createCascadeStream({
        first,
        direction,
        turns: createEncoderTurns({ ask, clock, limits: { streamLimitMs, textLimitMs } }),
        isNear,
        settle,
        judged,
      }),
    ...(first.holdBackBounds && { holdBackBounds: first.holdBackBounds }),
  }
}

const never = (): boolean => false

const letter = /\p{L}/u
/** The encoder reads at most this many windows of a slice, so that a long text does not keep it busy for seconds. */
const mostWindows = 4

const highestScore = ({ scores }: Classification): number => Math.max(...Object.values(scores))

/** Whether the encoder is asked. Written out per category, because every text passes here. */
function createIsNear({ categories }: EncoderStack): (linear: Classification) => boolean {
  const lowest = perCategory((category) => {
    const { askFrom, encoder } = categories[category]
    return encoder.weight === 0 ? Infinity : 1 / (1 + Math.exp(-askFrom))
  })
  return ({ scores }) =>
    scores['self-harm'] >= lowest['self-harm'] ||
    scores['sexual/minors'] >= lowest['sexual/minors'] ||
    scores.harassment >= lowest.harassment ||
    scores.hate >= lowest.hate ||
    scores.illicit >= lowest.illicit ||
    scores.sexual >= lowest.sexual
}

type Identified = Pick<Classifier, 'identity'>

const joinIdentities = ({ identity: first }: Identified, { identity: second }: Identified): Classifier['identity'] => ({
  id: `${first.id}+${second.id}`,
  version: `${first.version}+${second.version}`,
  digest: `${first.digest}+${second.digest}`,
})
