import { categories } from '../../scan/classify/categories.ts'
import { createEncodedStream } from '../../scan/detect/encoded-detector.ts'
import { lookBehind } from '../../scan/normalise/look-behind.ts'
import type { DecisionPoint } from '../../scan/stream/incremental-scan.ts'
import { createIncrementalSearch } from '../../scan/detect/personal-data/incremental-search.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'
import type { EvaluatedText } from './point-evaluation.ts'

/** Watches a streamed text for everything that may make a rule match: terms, phrases, patterns, encoded text, personal data. */
export type RuleWatch = {
  /** Reads further text; `text` is all text, including `more`. */
  push(more: string, text: string): void
  /** True if something matches that is not evaluated yet. */
  hasNewMatch(evaluated: EvaluatedText): boolean
  /** True if a rule may match at this decision point. It may say so wrongly, but never misses a match. */
  mayMatchAt(point: DecisionPoint, evaluated: EvaluatedText): boolean
  /** Start of the text that may still become part of a match. */
  pendingFrom(text: string, evaluated: EvaluatedText): number
}

export function createRuleWatch(holdBack: HoldBackPolicy): RuleWatch {
  const matcher = holdBack.startMatcher()
  const encoded = createEncodedStream()
  const search = holdBack.waitsForPersonalData ? createIncrementalSearch() : undefined
  let personalDataPendingFrom = Infinity

  const hasNewMatch = ({ matched, personalData }: EvaluatedText): boolean =>
    matcher.matched() > matched || (search !== undefined && search.matches.length > personalData)

  const hasNewScore = (
    { scores }: DecisionPoint['classification'],
    evaluated: DecisionPoint['classification'],
  ): boolean =>
    categories.some(
      (category) =>
        scores[category] >= holdBack.categoryBounds[category] && scores[category] > evaluated.scores[category],
    )

  return {
    push(more, text) {
      matcher.push(more)
      encoded.push(more)
      if (search !== undefined) personalDataPendingFrom = search.searchSettled(text)
    },
    hasNewMatch,
    mayMatchAt: ({ end, classification }, evaluated) =>
      holdBack.evaluatesEveryPoint ||
      hasNewMatch(evaluated) ||
      encoded.mayReach(end) ||
      hasNewScore(classification, evaluated.classification),
    pendingFrom(text, { to, allowedTo }) {
      const { longestTerm, longestEncodedTerm, evaluatesEveryPoint } = holdBack
      // A rule that no matcher watches for may match everything that was not evaluated.
      const unwatchedFrom = evaluatesEveryPoint ? lookBehind(text, allowedTo, longestTerm) : Infinity
      const watchedFrom = Math.min(matcher.settledTo(), encoded.pendingFrom(to, longestEncodedTerm))
      return Math.min(watchedFrom, unwatchedFrom, personalDataPendingFrom)
    },
  }
}
