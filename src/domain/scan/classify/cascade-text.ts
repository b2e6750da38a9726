import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { flagThreshold, noClassification, strongest } from './classifier.ts'
import type { Classification, SynchronousClassifier, TextDirection } from './classifier.ts'
import { alwaysBlockedCategories, type AlwaysBlockedCategory } from './categories.ts'
import type { EncoderQuestion } from './encoder.ts'
import type { EncoderAnswer } from './encoder-calls.ts'
import type { AskInTurn } from './encoder-turns.ts'
import { isReadableScript } from './readable-script.ts'
import { textWindows } from './text-windows.ts'

/** What the second stage does for one reader. */
export type SecondStageParts = {
  /** Whether the encoder is asked about the whole text. */
  readonly isNear: (linear: Pick<Classification, 'scores'>) => boolean
  /** Whether it is asked about passages of the text alone. */
  readonly hasPassages: (linear: Classification) => boolean
  readonly questionOf: (linear: Pick<Classification, 'scores' | 'passages'>) => EncoderQuestion
  readonly judged: JudgeText
  /** As `judged`, for all categories. */
  readonly judgedPassage: JudgeText
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
export function settleText(parts: TextParts, linear: Classification, asked: AskedText): MaybePromise<Classification> {
  const whole = parts.isNear(linear) ? settleWindows(parts, linear, asked) : linear
  if (!parts.hasPassages(linear)) return whole
  return andThen(whole, (settled) =>
    settled.isProvisional === true ? settled : settlePassages(parts, { linear, settled }, asked),
  )
}

function settleWindows(
  parts: TextParts,
  linear: Classification,
  { text, direction, ask }: AskedText,
): MaybePromise<Classification> {
  const { questionOf, judged } = parts
  const windows = textWindows(text).filter(isReadableScript)
  if (windows.length === 0) return linear
  const asked = nearWindows(parts, windows, direction)
  return andThen(ask(asked, questionOf(linear)), (answers) =>
    judged(linear, answers, { direction, unread: windows.length - asked.length, windows: asked }),
  )
}

type Settled = { readonly linear: Classification; readonly settled: Classification }

/** Adds what both stages say of passages. The first stage alone decides about other scripts. */
function settlePassages(
  { first, questionOf, judgedPassage }: TextParts,
  { linear, settled }: Settled,
  { text, direction, ask }: AskedText,
): MaybePromise<Classification> {
  const passages = (linear.passages ?? []).map(({ start, end, reading }) => reading ?? text.slice(start, end))
  const readable = passages.filter(isReadableScript)
  const others = passages.filter((passage) => !isReadableScript(passage))
  const scored = others.map((passage) => first.classify(passage, direction))
  if (readable.length === 0) return scored.map(ofFirstStage).reduce(strongest, settled)
  return andThen(ask(readable, questionOf(linear)), (answers) =>
    readable
      .map((passage, at) => {
        const own = first.classify(passage, direction)
        return ofPassage(
          own,
          judgedPassage(own, answers.slice(at, at + 1), { direction, unread: 0, windows: [passage] }),
        )
      })
      .concat(scored.map(ofFirstStage))
      .reduce(strongest, settled),
  )
}

/** A request in plain words is at least this sexual, and questions about children, rules and reports are far below. */
const sexualFrom = 0.1

/**
 * What counts of a passage: self-harm as both stages judge it, and sexual content about minors that the first stage finds if both
 * find it sexual. Without its context a question of parents or a rule against such content looks like it to the first stage.
 */
function ofPassage(first: Classification, both: Classification): Classification {
  if (both.isProvisional === true)
    return { ...noClassification, isProvisional: true, ...(both.stage && { stage: both.stage }) }
  const isSexual = both.scores.sexual >= sexualFrom
  return onlyAlwaysBlocked(both, {
    'self-harm': both.scores['self-harm'],
    'sexual/minors': isSexual ? first.scores['sexual/minors'] : 0,
  })
}

const ofFirstStage = (first: Classification): Classification =>
  onlyAlwaysBlocked(first, { 'self-harm': first.scores['self-harm'], 'sexual/minors': 0 })

function onlyAlwaysBlocked(
  { stage }: Classification,
  found: Readonly<Record<AlwaysBlockedCategory, number>>,
): Classification {
  const flagged = alwaysBlockedCategories.filter((category) => found[category] >= flagThreshold)
  return { scores: { ...noClassification.scores, ...found }, flagged, ...(stage !== undefined && { stage }) }
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
