import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { Classification, SynchronousClassifier, TextDirection } from './classifier.ts'
import type { EncoderQuestion } from './encoder.ts'
import type { EncoderAnswer } from './encoder-calls.ts'
import type { AskInTurn } from './encoder-turns.ts'
import { isReadableScript } from './readable-script.ts'
import { textWindows } from './text-windows.ts'

/** What the second stage does for one reader. */
export type SecondStageParts = {
  /** Whether the encoder is asked. */
  readonly isNear: (linear: Pick<Classification, 'scores'>) => boolean
  readonly questionOf: (linear: Pick<Classification, 'scores'>) => EncoderQuestion
  readonly judged: JudgeText
}

/** The result of both stages from the answers of the encoder for the windows of a text. */
export type JudgeText = (
  linear: Classification,
  answers: readonly EncoderAnswer[],
  text: { readonly direction: TextDirection; readonly unread: number; readonly windows: readonly string[] },
) => Classification

type TextParts = SecondStageParts & { readonly first: SynchronousClassifier }

type AskedText = { readonly text: string; readonly direction: TextDirection; readonly ask: AskInTurn }

/** The encoder reads at most this many windows of a slice, so that a long text does not keep it busy for seconds. */
const mostWindows = 4

/** The result of both stages for a complete text, from the result of the first. */
export function settleText(
  parts: TextParts,
  linear: Classification,
  { text, direction, ask }: AskedText,
): MaybePromise<Classification> {
  const { isNear, questionOf, judged } = parts
  if (!isNear(linear)) return linear
  const windows = textWindows(text).filter(isReadableScript)
  if (windows.length === 0) return linear
  const asked = nearWindows(parts, windows, direction)
  return andThen(ask(asked, questionOf(linear)), (answers) =>
    judged(linear, answers, { direction, unread: windows.length - asked.length, windows: asked }),
  )
}

/**
 * The windows of a text that the first stage scores high enough, at most four, those with the highest scores. If only the whole
 * text scores so high, the highest four of all.
 */
function nearWindows(
  { first, isNear }: TextParts,
  windows: readonly string[],
  direction: TextDirection,
): readonly string[] {
  if (windows.length === 1) return windows
  const scored = windows.map((window) => ({ window, linear: first.classify(window, direction) }))
  const near = scored.filter(({ linear }) => isNear(linear))
  return (near.length > 0 ? near : scored)
    .toSorted((one, other) => highestScore(other.linear) - highestScore(one.linear))
    .slice(0, mostWindows)
    .map(({ window }) => window)
}

const highestScore = ({ scores }: Classification): number => Math.max(...Object.values(scores))
