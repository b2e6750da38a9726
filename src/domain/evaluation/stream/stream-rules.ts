import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { categories } from '../../scan/classify/categories.ts'
import { noClassification, type Classification, type DecisionPoint } from '../../scan/classify/classifier.ts'
import { joinDetectors } from '../../scan/detect/detector.ts'
import { createEncodedTextDetector } from '../../scan/detect/encoded-detector.ts'
import { createPersonalDataDetector, type PersonalDataDetector } from '../../scan/detect/personal-data/detector.ts'
import { isAsciiSpace, lookBehind } from '../../scan/normalise/look-behind.ts'
import { createWindows } from '../../scan/normalise/windows.ts'
import { createWordEnd, longestWord, type WordEnd } from '../../scan/normalise/word-end.ts'
import { partMode, type ClassifiedStream } from '../../scan/stream/stream-modes.ts'
import type { Evaluate, Evaluation } from '../evaluate.ts'
import { isDenied } from '../verdict/combine.ts'
import type { Plan } from '../plan.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'

/** The rules for one streamed text: where one of them may match, and what they decide there. */
export type StreamRules = {
  /** Reads further text with all detectors; `text` is all text, including `more`. */
  push(more: string, text: string): void
  /** True if a rule may match at this decision point. It may say so wrongly, but never misses a match. */
  mayMatchAt(point: DecisionPoint): boolean
  /**
   * Evaluates the text up to a decision point. The points passed must be in order. The result depends on the text alone, and not on
   * which of the points before were evaluated.
   */
  evaluateAt(at: TextAtPoint): MaybePromise<Evaluation>
  /** Evaluates the text up to a position between decision points, for rules that no detector knows. It only extends `settledTo`. */
  tryAt(at: TextAtPoint): MaybePromise<unknown>
  /** True if something matches that is not evaluated yet. */
  hasNewMatch(): boolean
  /** Text before this position is part of no pending match. */
  settledTo(text: string): number
}

/** A text that is evaluated up to one position. */
export type TextAtPoint = {
  /** All text so far. */
  readonly text: string
  readonly point: DecisionPoint
  /** The decision point before, or 0. */
  readonly previous: number
  readonly read: ClassifiedStream
}

export type StreamRulesParts = {
  readonly plan: Plan
  readonly holdBack: HoldBackPolicy
  /** Evaluates without caches, because a part of a text is seen only once. */
  readonly evaluateUncached: Evaluate
}

export function createStreamRules(parts: StreamRulesParts): StreamRules {
  const { holdBack } = parts
  const matches = holdBack.startDetector()
  const encoded = createEncodedTextDetector(holdBack.longestEncodedTerm)
  const personalData = holdBack.waitsForPersonalData ? createPersonalDataDetector() : undefined
  const detectors = joinDetectors([matches, encoded, ...(personalData === undefined ? [] : [personalData])])
  let evaluated = notEvaluated
  /** Created when it is needed: most texts are evaluated only when they are complete. */
  let evaluation: PartEvaluation | undefined

  const hasNewMatch = (): boolean =>
    matches.matched() > evaluated.matched ||
    (personalData !== undefined && personalData.matched() > evaluated.personalData)

  const hasNewScore = ({ scores }: Classification): boolean =>
    categories.some(
      (category) =>
        scores[category] >= holdBack.categoryBounds[category] &&
        scores[category] > evaluated.classification.scores[category],
    )

  return {
    push: detectors.push,
    hasNewMatch,
    mayMatchAt: ({ end, classification }) =>
      holdBack.evaluatesEveryPoint || hasNewMatch() || encoded.mayReach(end) || hasNewScore(classification),
    evaluateAt(at) {
      evaluation ??= createPartEvaluation(parts)
      return andThen(evaluation.evaluateAt(at), (result) => {
        evaluated = result.evaluated
        encoded.onEvaluated(evaluated.to)
        return result.evaluation
      })
    },
    tryAt(at) {
      if (!holdBack.evaluatesEveryPoint) return undefined
      evaluation ??= createPartEvaluation(parts)
      return andThen(evaluation.tryAt(at), ({ verdict }) => {
        if (!isDenied(verdict)) evaluated = { ...evaluated, allowedTo: at.point.end }
      })
    },
    settledTo(text) {
      const settledTo = detectors.settledTo()
      // A rule that no detector knows may match everything that was not evaluated.
      if (!holdBack.evaluatesEveryPoint) return settledTo
      return Math.min(settledTo, lookBehind(text, evaluated.allowedTo, holdBack.longestTerm))
    },
  }
}

/** What the text held at the last decision point that was evaluated. */
type EvaluatedText = {
  /** The position up to which the text was evaluated. */
  readonly to: number
  /** The position up to which the rules allow the text, so far. */
  readonly allowedTo: number
  readonly matched: number
  readonly personalData: number
  readonly classification: Classification
}

/** Before the first evaluation. */
const notEvaluated: EvaluatedText = {
  to: 0,
  allowedTo: 0,
  matched: 0,
  personalData: 0,
  classification: noClassification,
}

/** Evaluates parts of one text. Its detectors have read the text only up to the last decision point that was evaluated. */
type PartEvaluation = {
  evaluateAt(at: TextAtPoint): MaybePromise<{ readonly evaluation: Evaluation; readonly evaluated: EvaluatedText }>
  tryAt(at: TextAtPoint): MaybePromise<Evaluation>
}

function createPartEvaluation({ plan, holdBack, evaluateUncached }: StreamRulesParts): PartEvaluation {
  const planAtStart: Plan = { ...plan, policies: holdBack.policies }
  const planLater: Plan = { ...plan, policies: holdBack.laterPolicies }
  const windows = createWindows()
  const boundaryBefore = createBoundaryBefore()
  const matches = holdBack.startDetector()
  const personalData = createPersonalDataDetector()
  let readTo = 0

  function readUpTo(text: string, end: number): void {
    if (end > readTo) matches.push(text.slice(readTo, end), text)
    readTo = Math.max(readTo, end)
  }

  /** Covers what the decision point before did not, and every match that was pending there. */
  function startOf(text: string, previous: number, end: number): number {
    readUpTo(text, previous)
    const covered = windows.startOf(text, previous, holdBack.longestTerm + longestWord)
    return boundaryBefore(text, Math.min(windows.startOf(text, end), covered, matches.settledTo()))
  }

  function evaluatePart({ text, point, previous, read }: TextAtPoint, end: number, own: PersonalDataDetector) {
    const start = startOf(text, boundaryBefore(text, previous), end)
    const mode = partMode(read, point, () => {
      own.searchSettled(text.slice(0, end))
      return own.matches
    })
    return evaluateUncached(start === 0 ? planAtStart : planLater, {
      texts: [text.slice(start, end)],
      direction: 'response',
      skipsPersonalData: !holdBack.waitsForPersonalData,
      mode,
    })
  }

  return {
    tryAt: (at) => evaluatePart(at, at.point.end, personalData.fork()),
    evaluateAt(at) {
      const { text, point } = at
      const end = boundaryBefore(text, point.end)
      return andThen(evaluatePart(at, end, personalData), (evaluation) => {
        readUpTo(text, end)
        const counts = { matched: matches.matched(), personalData: personalData.matched() }
        return { evaluation, evaluated: { to: end, allowedTo: end, ...counts, classification: point.classification } }
      })
    },
  }
}

/**
 * The position after the last white space, because a part of a word could match although the text does not. In a long run
 * without white space, the last word boundary.
 */
function createBoundaryBefore(): WordEnd {
  const wordEnd = createWordEnd()
  return (text, end) => {
    for (let at = end; at > Math.max(0, end - longestWord); at--) if (isAsciiSpace(text.charCodeAt(at - 1))) return at
    return wordEnd(text, end)
  }
}
