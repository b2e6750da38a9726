import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { noClassification, type Classification } from '../../scan/classify/classifier.ts'
import type { DecisionPoint, StreamedText } from '../../scan/stream/incremental-scan.ts'
import { createPersonalDataDetector, type PersonalDataDetector } from '../../scan/detect/personal-data/detector.ts'
import { isAsciiSpace } from '../../scan/normalise/look-behind.ts'
import { createWindows } from '../../scan/normalise/windows.ts'
import { createWordEnd, longestWord, type WordEnd } from '../../scan/normalise/word-end.ts'
import type { Evaluate, Evaluation } from '../evaluate.ts'
import { isDenied } from '../verdict/combine.ts'
import type { Plan } from '../plan.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'

/**
 * Evaluates a streamed text up to one decision point after the other. An evaluation depends on the text alone, and not on which of
 * the decision points before were evaluated.
 */
export type PointEvaluation = {
  /** Evaluates the text up to a decision point. The decision points passed must be in order. */
  evaluateAt(text: string, point: DecisionPoint, streamed: StreamedText): MaybePromise<Evaluation>
  /** Evaluates the text up to a position that is no decision point. It may only extend `allowedTo`. */
  tryAt(text: string, position: DecisionPoint, streamed: StreamedText): MaybePromise<void>
  /** What the text held at the last decision point that was evaluated. */
  evaluated(): EvaluatedText
}

export type EvaluatedText = {
  /** The position up to which the text was evaluated. */
  readonly to: number
  /** The position up to which the rules allow the text, so far. */
  readonly allowedTo: number
  /** The number of matches, of the detector that the policy starts. */
  readonly matched: number
  readonly personalData: number
  readonly classification: Classification
}

/** Before the first evaluation. */
export const notEvaluated: EvaluatedText = {
  to: 0,
  allowedTo: 0,
  matched: 0,
  personalData: 0,
  classification: noClassification,
}

export type PointEvaluationParts = {
  readonly plan: Plan
  readonly holdBack: HoldBackPolicy
  readonly evaluateUncached: Evaluate
}

export function createPointEvaluation({ plan, holdBack, evaluateUncached }: PointEvaluationParts): PointEvaluation {
  const planAtStart: Plan = { ...plan, policies: holdBack.policies }
  const planLater: Plan = { ...plan, policies: holdBack.laterPolicies }
  const windows = createWindows()
  const boundaryBefore = createBoundaryBefore()
  const detector = holdBack.startDetector()
  const personalData = createPersonalDataDetector()
  let matchedTo = 0
  let evaluated = notEvaluated

  function readTo(text: string, end: number): void {
    if (end > matchedTo) detector.push(text.slice(matchedTo, end), text)
    matchedTo = Math.max(matchedTo, end)
  }

  /** Covers what the decision point before did not, and every match that was pending there. */
  function startOf(text: string, previous: number, end: number): number {
    readTo(text, previous)
    const covered = windows.startOf(text, previous, holdBack.longestTerm + longestWord)
    return boundaryBefore(text, Math.min(windows.startOf(text, end), covered, detector.settledTo()))
  }

  type Part = {
    readonly text: string
    readonly end: number
    readonly point: DecisionPoint
    readonly personalData: PersonalDataDetector
  }

  function evaluatePart({ text, end, point, personalData: own }: Part, streamed: StreamedText) {
    const start = startOf(text, boundaryBefore(text, point.previous), end)
    const mode = streamed.partMode(point, () => {
      own.searchSettled(text.slice(0, end))
      return own.matches
    })
    const skipsPersonalData = !holdBack.waitsForPersonalData
    return evaluateUncached(start === 0 ? planAtStart : planLater, {
      texts: [text.slice(start, end)],
      direction: 'response',
      skipsPersonalData,
      mode,
    })
  }

  return {
    evaluated: () => evaluated,
    tryAt: (text, point, streamed) =>
      andThen(
        evaluatePart({ text, end: point.end, point, personalData: personalData.fork() }, streamed),
        ({ verdict }) => {
          if (!isDenied(verdict)) evaluated = { ...evaluated, allowedTo: point.end }
        },
      ),
    evaluateAt(text, point, streamed) {
      const end = boundaryBefore(text, point.end)
      return andThen(evaluatePart({ text, end, point, personalData }, streamed), (evaluation) => {
        readTo(text, end)
        const { classification } = point
        evaluated = {
          to: end,
          allowedTo: end,
          matched: detector.matched(),
          personalData: personalData.matched(),
          classification,
        }
        return evaluation
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
