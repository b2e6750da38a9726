import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { noClassification, type Classification } from '../../scan/classify/classifier.ts'
import type { Place, StreamedText } from '../../scan/stream/incremental-scan.ts'
import { createIncrementalSearch, type IncrementalSearch } from '../../scan/detect/personal-data/incremental-search.ts'
import { isAsciiSpace } from '../../scan/normalise/look-behind.ts'
import { createWindows } from '../../scan/normalise/windows.ts'
import { createWordEnd, longestWord, type WordEnd } from '../../scan/normalise/word-end.ts'
import type { Evaluate, Evaluation } from '../evaluate.ts'
import { isDenied } from '../verdict/combine.ts'
import type { Plan } from '../plan.ts'
import type { HoldBackPolicy } from './hold-back-policy.ts'

/**
 * Evaluates a streamed text up to one place after the other. The evaluation of a place depends on the text alone, and not on
 * which of the places before were evaluated.
 */
export type PlaceEvaluation = {
  /** Evaluates the text up to a place. The places passed must be in order. */
  evaluateAt(text: string, place: Place, streamed: StreamedText): MaybePromise<Evaluation>
  /** Evaluates the text up to a position that is no place. It may only extend `allowedTo`. */
  tryAt(text: string, position: Place, streamed: StreamedText): MaybePromise<void>
  /** What the text held at the last place that was evaluated. */
  evaluated(): EvaluatedText
}

export type EvaluatedText = {
  /** The position up to which the text was evaluated. */
  readonly to: number
  /** The position up to which the rules allow the text, so far. */
  readonly allowedTo: number
  /** The number of matches, of the matcher that the policy starts. */
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

export type PlaceEvaluationParts = {
  readonly plan: Plan
  readonly holdBack: HoldBackPolicy
  readonly evaluateUncached: Evaluate
}

export function createPlaceEvaluation({ plan, holdBack, evaluateUncached }: PlaceEvaluationParts): PlaceEvaluation {
  const planAtStart: Plan = { ...plan, policies: holdBack.policies }
  const planLater: Plan = { ...plan, policies: holdBack.laterPolicies }
  const windows = createWindows()
  const boundaryBefore = createBoundaryBefore()
  const matcher = holdBack.startMatcher()
  const search = createIncrementalSearch()
  let matchedTo = 0
  let evaluated = notEvaluated

  function readTo(text: string, end: number): void {
    if (end > matchedTo) matcher.push(text.slice(matchedTo, end))
    matchedTo = Math.max(matchedTo, end)
  }

  /** Covers what the place before did not, and every match that was pending there. */
  function startOf(text: string, previous: number, end: number): number {
    readTo(text, previous)
    const covered = windows.startOf(text, previous, holdBack.longestTerm + longestWord)
    return boundaryBefore(text, Math.min(windows.startOf(text, end), covered, matcher.settledTo()))
  }

  type Part = { readonly text: string; readonly end: number; readonly place: Place; readonly search: IncrementalSearch }

  function evaluatePart({ text, end, place, search: ownSearch }: Part, streamed: StreamedText) {
    const start = startOf(text, boundaryBefore(text, place.previous), end)
    const mode = streamed.partMode(place, () => {
      ownSearch.searchSettled(text.slice(0, end))
      return ownSearch.matches
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
    tryAt: (text, place, streamed) =>
      andThen(evaluatePart({ text, end: place.end, place, search: search.fork() }, streamed), ({ verdict }) => {
        if (!isDenied(verdict)) evaluated = { ...evaluated, allowedTo: place.end }
      }),
    evaluateAt(text, place, streamed) {
      const end = boundaryBefore(text, place.end)
      return andThen(evaluatePart({ text, end, place, search }, streamed), (evaluation) => {
        readTo(text, end)
        const { classification } = place
        evaluated = {
          to: end,
          allowedTo: end,
          matched: matcher.matched(),
          personalData: search.matches.length,
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
