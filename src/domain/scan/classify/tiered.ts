import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { alwaysBlockedCategories, categories, perCategory, type Category, type PerCategory } from './categories.ts'
import {
  flagThreshold,
  readsAll,
  type Classification,
  type ClassificationReader,
  type Classifier,
  type TextDirection,
} from './classifier.ts'
import { createWindowedStream } from './windowed-stream.ts'

export type TieredParts = {
  /** Classifies every text. */
  readonly first: Classifier
  /** More accurate and more expensive: classifies only texts that the first is uncertain about. */
  readonly second: Classifier
  /** Called with the error of the second classifier. */
  readonly onFailure: (error: unknown) => void
}

/** The first classifier is certain of scores of at least `high`, and of scores below `low`. */
const low = 0.2
const high = 0.9
/** Just below the threshold, so that scores and flags agree. */
const notFlaggedScore = flagThreshold - 0.01

/**
 * Two classifiers as one. The first alone classifies what it is certain of. For other texts, and for requests in another script,
 * the second is called, and its flags count. If the second fails, the scores of the first are used, with the threshold `low` for
 * the two always blocked categories and `high` for the others. While a text streams, the first looks at every chunk, and both decide
 * once per window.
 */
export function createTieredClassifier({ first, second, onFailure }: TieredParts): Classifier {
  const settle = (firstResult: Classification, { text, direction, reader }: TieredText): MaybePromise<Classification> =>
    reader.categories.values().some((category) => isUncertain(firstResult.scores[category])) ||
    (direction === 'request' && isNonLatin(text))
      ? callSecond(firstResult, text, direction)
      : decided(firstResult, (category) => isHigh(firstResult, category))

  async function callSecond(
    firstResult: Classification,
    text: string,
    direction: TextDirection,
  ): Promise<Classification> {
    try {
      return joined(firstResult, await second.classify(text, direction))
    } catch (error) {
      onFailure(error)
      return {
        ...decided(firstResult, (category) => firstResult.scores[category] >= fallbackThreshold(category)),
        isProvisional: true,
        stage: 'linear_remote_failed',
      }
    }
  }

  const classify: Classifier['classify'] = (text, direction, reader = readsAll) =>
    andThen(first.classify(text, direction, reader), (firstResult) => settle(firstResult, { text, direction, reader }))

  return {
    get identity() {
      return {
        id: `${first.identity.id}+${second.identity.id}`,
        version: `${first.identity.version}+${second.identity.version}`,
        digest: first.identity.digest,
      }
    },
    classify,
    startStream(direction, reader = readsAll) {
      const stream = first.startStream?.(direction, reader)
      return createWindowedStream({
        classifier: {
          classify: (part, _, isWhole) =>
            andThen(stream?.classifyPart?.(part, isWhole) ?? first.classify(part, direction, reader), (firstResult) =>
              settle(firstResult, { text: part, direction, reader }),
            ),
        },
        direction,
        peeks: stream?.firstStage ?? stream,
      })
    },
    ...(first.holdBackBounds && { holdBackBounds: first.holdBackBounds }),
  }
}

type TieredText = {
  readonly text: string
  readonly direction: TextDirection
  readonly reader: ClassificationReader
}

/**
 * True if more than a third of the letters are of another script. The first classifier knows English and finds nothing in
 * other scripts. Responses are not sent to the second classifier for this reason, because a stream is scanned too often.
 */
function isNonLatin(text: string): boolean {
  if (!/[\u0370-\uffff]/.test(text)) return false
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return letters > 0 && latin < (letters * 2) / 3
}

const isUncertain = (score: number): boolean => score >= low && score < high

const isHigh = ({ scores }: Classification, category: Category): boolean => scores[category] >= high

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

const fallbackThreshold = (category: Category): number => (alwaysBlocked.has(category) ? low : high)

function joined(firstResult: Classification, secondResult: Classification): Classification {
  const scores = perCategory((category) =>
    isHigh(firstResult, category)
      ? Math.max(firstResult.scores[category], secondResult.scores[category])
      : secondResult.scores[category],
  )
  const isProvisional = firstResult.isProvisional === true || secondResult.isProvisional === true
  return decided(
    { ...firstResult, scores, isProvisional, stage: 'remote' },
    (category) => isHigh(firstResult, category) || secondResult.flagged.includes(category),
  )
}

/** Makes scores and flags agree: a flagged category scores at least 0.5, any other less. */
function decided(
  { scores, stage, isProvisional }: Classification,
  isFlagged: (category: Category) => boolean,
): Classification {
  const consistent: PerCategory<number> = perCategory((category) =>
    isFlagged(category) ? Math.max(scores[category], flagThreshold) : Math.min(scores[category], notFlaggedScore),
  )
  return {
    scores: consistent,
    flagged: categories.filter(isFlagged),
    ...(isProvisional === true && { isProvisional }),
    ...(stage !== undefined && { stage }),
  }
}
