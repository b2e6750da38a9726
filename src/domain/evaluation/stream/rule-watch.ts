import { categories } from '../../scan/classify/categories.ts'
import { joinDetectors } from '../../scan/detect/detector.ts'
import { createEncodedTextDetector } from '../../scan/detect/encoded-detector.ts'
import { lookBehind } from '../../scan/normalise/look-behind.ts'
import type { DecisionPoint } from '../../scan/stream/incremental-scan.ts'
import { createPersonalDataDetector } from '../../scan/detect/personal-data/detector.ts'
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
  const matches = holdBack.startDetector()
  const encoded = createEncodedTextDetector(holdBack.longestEncodedTerm)
  const personalData = holdBack.waitsForPersonalData ? createPersonalDataDetector() : undefined
  const all = joinDetectors([matches, encoded, ...(personalData === undefined ? [] : [personalData])])

  const hasNewMatch = (evaluated: EvaluatedText): boolean =>
    matches.matched() > evaluated.matched ||
    (personalData !== undefined && personalData.matched() > evaluated.personalData)

  const hasNewScore = (
    { scores }: DecisionPoint['classification'],
    evaluated: DecisionPoint['classification'],
  ): boolean =>
    categories.some(
      (category) =>
        scores[category] >= holdBack.categoryBounds[category] && scores[category] > evaluated.scores[category],
    )

  return {
    push: all.push,
    hasNewMatch,
    mayMatchAt: ({ end, classification }, evaluated) =>
      holdBack.evaluatesEveryPoint ||
      hasNewMatch(evaluated) ||
      encoded.mayReach(end) ||
      hasNewScore(classification, evaluated.classification),
    pendingFrom(text, { to, allowedTo }) {
      const { longestTerm, evaluatesEveryPoint } = holdBack
      encoded.onEvaluated(to)
      // A rule that no detector knows may match everything that was not evaluated.
      return evaluatesEveryPoint ? Math.min(all.settledTo(), lookBehind(text, allowedTo, longestTerm)) : all.settledTo()
    },
  }
}
