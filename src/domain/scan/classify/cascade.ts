import type { MaybePromise } from '../../../base/maybe-promise.ts'
import { noClassification, readsAll, strongest } from './classifier.ts'
import type {
  Classification,
  ClassificationReader,
  Classifier,
  StreamResult,
  SynchronousClassifier,
  TextDirection,
} from './classifier.ts'
import { createCascadeStream } from './cascade-stream.ts'
import { settleText, type JudgeText, type SecondStageParts } from './cascade-text.ts'
import { alwaysBlockedCategories, perCategory, type Category } from './categories.ts'
import type { Encoder, EncoderStack } from './encoder.ts'
import { createAskEncoder, type EncoderCallsParts } from './encoder-calls.ts'
import { createEncoderTurns, type AskInTurn } from './encoder-turns.ts'
import { partsNotEnglish } from './english.ts'
import { stackScores } from './stacked-scores.ts'

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
  const ask = createAskEncoder({ encoder, clock, onResult })
  const identity = joinIdentities(first, encoder)
  const near = createNear(encoder.stack)

  const askAside: AskInTurn = (texts, question) => (isOff() ? offAnswer : ask(texts, question, Infinity))
  const peeks = first.holdBackBounds && { bounds: first.holdBackBounds, clock, askAside }

  /** What the second stage does for one reader. */
  function stageFor(reader: ClassificationReader): SecondStageParts {
    const isScoredHigh = near(reader.categories)
    const isNear: IsNear = (linear) => isScoredHigh(linear) && !isOff()
    return {
      isNear,
      hasPassages: ({ passages }) => passages !== undefined && !isOff(),
      questionOf: (linear) => ({
        isUrgent: linear.passages !== undefined || near(alwaysRead)(linear),
        organizationId: reader.organizationId,
      }),
      judged: createJudge({ first, stack: encoder.stack, read: reader.categories }),
      judgedPassage: createJudge({ first, stack: encoder.stack, read: readsAll.categories }),
    }
  }

  const classify: Classifier['classify'] = (text, direction, reader = readsAll) => {
    const linear = first.classify(text, direction)
    const isRead = linear.passages !== undefined || near(reader.categories)(linear)
    return isRead ? settleNear(linear, { text, direction, reader }) : linear
  }

  function settleNear(linear: Classification, { text, direction, reader }: NearText): MaybePromise<Classification> {
    const askNow: AskInTurn = (texts, question) => ask(texts, question, textLimitMs)
    return settleText({ first, ...stageFor(reader) }, linear, { text, direction, ask: askNow })
  }

  return {
    get identity() {
      return isOff() ? first.identity : identity
    },
    classify,
    startStream: (direction, reader = readsAll) =>
      createCascadeStream({
        first,
        direction,
        turns: createEncoderTurns({ ask, clock, limits: { streamLimitMs, textLimitMs } }),
        peeks,
        ...stageFor(reader),
      }),
    classifyWhole(text, direction, reader = readsAll) {
      const result = first.classifyWhole?.(text, direction)
      if (result === undefined || isOff()) return result
      return isAnyNear(result, near(reader.categories)) ? undefined : result
    },
    ...(first.holdBackBounds && { holdBackBounds: first.holdBackBounds }),
  }
}

const alwaysRead: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

const never = (): boolean => false

const offAnswer = ['linear_encoder_failed'] as const

type IsNear = (linear: Pick<Classification, 'scores'>) => boolean

type NearText = {
  readonly text: string
  readonly direction: TextDirection
  readonly reader: ClassificationReader
}

/** Scores at decision points only rise, so the strongest of them is near if any is. */
const isAnyNear = ({ whole, decided }: StreamResult, isNear: IsNear): boolean =>
  whole.passages !== undefined || isNear(whole) || (decided !== undefined && isNear(decided))

/** Whether the encoder is asked for a reader of some categories. */
function createNear(stack: EncoderStack): (read: ReadonlySet<Category>) => IsNear {
  const known = new WeakMap<ReadonlySet<Category>, IsNear>()
  return (read) => {
    const existing = known.get(read)
    if (existing !== undefined) return existing
    const isNear = createIsNear(stack, read)
    known.set(read, isNear)
    return isNear
  }
}

/** Written out per category, because every text passes here. */
function createIsNear({ categories }: EncoderStack, read: ReadonlySet<Category>): IsNear {
  const lowest = perCategory((category) => {
    const { askFrom, encoder } = categories[category]
    return encoder.weight === 0 || !read.has(category) ? Infinity : 1 / (1 + Math.exp(-askFrom))
  })
  return ({ scores }) =>
    scores['self-harm'] >= lowest['self-harm'] ||
    scores['sexual/minors'] >= lowest['sexual/minors'] ||
    scores.harassment >= lowest.harassment ||
    scores.hate >= lowest.hate ||
    scores.illicit >= lowest.illicit ||
    scores.sexual >= lowest.sexual
}

type JudgeParts = {
  readonly first: SynchronousClassifier
  readonly stack: EncoderStack
  readonly read: ReadonlySet<Category>
}

const createJudge =
  ({ first, stack, read }: JudgeParts): JudgeText =>
  (linear, answers, text) => {
    const missed = answers.find((answer) => typeof answer === 'string')
    if (missed !== undefined) return { ...linear, isProvisional: true, stage: missed }
    const { windows, direction } = text
    const notEnglish = windows
      .map((window) => partsNotEnglish(window))
      .filter((part) => part !== '')
      .map((part) => first.classify(part, direction))
      .reduce(strongest, noClassification)
    const logits = answers.filter((answer) => typeof answer !== 'string')
    return stackScores(stack, { ...text, linear, logits, notEnglish, read })
  }

type Identified = Pick<Classifier, 'identity'>

const joinIdentities = ({ identity: first }: Identified, { identity: second }: Identified): Classifier['identity'] => ({
  id: `${first.id}+${second.id}`,
  version: `${first.version}+${second.version}`,
  digest: `${first.digest}+${second.digest}`,
})
