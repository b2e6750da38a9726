import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { alwaysBlockedCategories, categories, perCategory, type Category, type PerCategory } from './categories.ts'
import { flagThreshold, type Classification, type Classifier, type TextDirection } from './classifier.ts'

export type TieredParts = {
  /** Reads every text. */
  readonly first: Classifier
  /** Knows better, and is dearer: reads what the first is not sure of. */
  readonly second: Classifier
  /** Told why the second gave no answer. */
  readonly onFailure: (error: unknown) => void
}

/** The first is sure of what scores at least `high`, and of what scores less than `low`. */
const low = 0.2
const high = 0.9
/** Just short of a verdict, so that whoever looks at the score alone sees the same. */
const acquitted = flagThreshold - 0.01

/**
 * Two classifiers as one. The first alone decides what it is sure of; about the rest, and about requests in another
 * script, the second is asked, and what it flags is flagged. Where the second fails, the first decides alone again: at
 * its low mark in the two categories that are always blocked, at its high mark in the others.
 */
export function createTieredClassifier({ first, second, onFailure }: TieredParts): Classifier {
  const settle = (quick: Classification, text: string, direction: TextDirection): MaybePromise<Classification> =>
    categories.some((category) => isUnsure(quick.scores[category])) || (direction === 'request' && isForeign(text))
      ? askSecond(quick, text, direction)
      : decided(quick, (category) => isHigh(quick, category))

  async function askSecond(quick: Classification, text: string, direction: TextDirection): Promise<Classification> {
    try {
      return joined(quick, await second.classify(text, direction))
    } catch (error) {
      onFailure(error)
      return { ...decided(quick, (category) => quick.scores[category] >= markWithout(category)), isProvisional: true }
    }
  }

  return {
    identity: {
      id: `${first.identity.id}+${second.identity.id}`,
      version: `${first.identity.version}+${second.identity.version}`,
      digest: first.identity.digest,
    },
    classify: (text, direction) => andThen(first.classify(text, direction), (quick) => settle(quick, text, direction)),
  }
}

/**
 * Whether more than a third of its letters are of another script: the first reads English, and finds nothing in others.
 * Answers are judged again and again while they are written, for which nobody would wait.
 */
function isForeign(text: string): boolean {
  if (!/[\u0370-\uffff]/.test(text)) return false
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0
  return letters > 0 && latin < (letters * 2) / 3
}

const isUnsure = (score: number): boolean => score >= low && score < high

const isHigh = ({ scores }: Classification, category: Category): boolean => scores[category] >= high

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

const markWithout = (category: Category): number => (alwaysBlocked.has(category) ? low : high)

function joined(quick: Classification, thorough: Classification): Classification {
  const scores = perCategory((category) =>
    isHigh(quick, category) ? Math.max(quick.scores[category], thorough.scores[category]) : thorough.scores[category],
  )
  return decided({ ...quick, scores }, (category) => isHigh(quick, category) || thorough.flagged.includes(category))
}

/** Scores and verdicts that say the same: what is flagged has at least half, what is not has less. */
function decided({ scores }: Classification, isFlagged: (category: Category) => boolean): Classification {
  const consistent: PerCategory<number> = perCategory((category) =>
    isFlagged(category) ? Math.max(scores[category], flagThreshold) : Math.min(scores[category], acquitted),
  )
  return { scores: consistent, flagged: categories.filter(isFlagged) }
}
