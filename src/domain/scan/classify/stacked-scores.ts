/** Combines the logits of the encoder with the scores of the first stage. */
import { alwaysBlockedCategories, categories, perCategory, type Category, type PerCategory } from './categories.ts'
import { flagThreshold, type Classification, type TextDirection } from './classifier.ts'
import type { EncoderStack, StackedCategory } from './encoder.ts'
import { certainScore } from './passages.ts'

/** The scores of the first stage are 0 or 1 for texts far from the threshold. Log-odds beyond this are cut. */
const furthestLogOdds = 20

export type StackedText = {
  /** The result of the first stage for the whole text. */
  readonly linear: Classification
  /** The logits of the windows that the encoder has read. */
  readonly logits: readonly PerCategory<number>[]
  /** The number of windows that it was not asked about. Each counts as an average text. */
  readonly unread: number
  readonly direction: TextDirection
  /** The categories that the encoder judges. The others keep the scores of the first stage. */
  readonly read: ReadonlySet<Category>
  /** The result of the first stage for the parts that are not English. The encoder may raise these scores, and not lower them. */
  readonly notEnglish: Classification
}

/**
 * One classification from both stages. Its scores and flags agree: 0.5 is the threshold. It names the encoder, unless only
 * categories are flagged that the encoder does not judge.
 */
export function stackScores(stack: EncoderStack, text: StackedText): Classification {
  const isJudged = (category: Category): boolean =>
    stack.categories[category].encoder.weight !== 0 && text.read.has(category)
  const scores = perCategory((category) => {
    const settings = stack.categories[category]
    const first = text.linear.scores[category]
    if (!isJudged(category)) return first
    const both = stackedScore(settings, {
      logit: gather(
        text.logits.map((logits) => logits[category]),
        { value: settings.encoder.mean, times: text.unread },
      ),
      logOdds: logOddsOf(first),
      direction: text.direction,
    })
    return Math.max(both, scoreFloor(category, text))
  })
  const flagged = categories.filter((category) => scores[category] >= flagThreshold)
  const isOfFirst = flagged.length > 0 && !flagged.some(isJudged)
  return { scores, flagged, ...(!isOfFirst && { stage: 'encoder' }) }
}

/**
 * The lowest score that the encoder may produce. For a text without English, whose parts score like the whole, it is the score of
 * the first stage. It is the threshold if a part in another language is flagged beside English, or if the first stage is certain of
 * a category that is always blocked.
 */
function scoreFloor(category: Category, { linear, notEnglish }: StackedText): number {
  const own = notEnglish.scores[category]
  if (own >= flagThreshold) return own === linear.scores[category] ? own : flagThreshold
  return alwaysBlocked.has(category) && linear.scores[category] >= certainScore ? flagThreshold : 0
}

const alwaysBlocked: ReadonlySet<Category> = new Set(alwaysBlockedCategories)

type StackInputs = { readonly logit: number; readonly logOdds: number; readonly direction: TextDirection }

function stackedScore(settings: StackedCategory, { logit, logOdds, direction }: StackInputs): number {
  const { encoder, linear, slope, thresholds } = settings
  const raw =
    (encoder.weight * (logit - encoder.mean)) / encoder.deviation +
    (linear.weight * (logOdds - linear.mean)) / linear.deviation
  return 1 / (1 + Math.exp(-slope * (raw - thresholds[direction])))
}

function logOddsOf(score: number): number {
  const logOdds = Math.log(score / (1 - score))
  return Math.max(-furthestLogOdds, Math.min(furthestLogOdds, logOdds))
}

/**
 * The mean of the likelihoods of several windows, but at most one unit below the highest, as in the first stage: a long harmless
 * text is not blocked for one unusual window, and a harmful passage is not diluted.
 */
function gather(read: readonly number[], unread: { readonly value: number; readonly times: number }): number {
  const highest = Math.max(...read, ...(unread.times > 0 ? [unread.value] : []))
  const likelihood = (value: number): number => Math.exp(value - highest)
  const sum = read.reduce((total, value) => total + likelihood(value), unread.times * likelihood(unread.value))
  return highest + Math.max(-1, Math.log(sum / (read.length + unread.times)))
}
