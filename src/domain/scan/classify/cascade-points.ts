import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import { categories, perCategory } from './categories.ts'
import {
  flagThreshold,
  noClassification,
  strongest,
  type Classification,
  type DecisionPoint,
  type SynchronousClassifier,
  type TextDirection,
} from './classifier.ts'
import type { SecondStageParts } from './cascade-text.ts'
import type { AskInTurn } from './encoder-turns.ts'
import { isReadableScript } from './readable-script.ts'
import { createWindows } from '../normalise/windows.ts'

export type CascadePointsParts = SecondStageParts & {
  readonly first: SynchronousClassifier
  readonly direction: TextDirection
}

/** The results of both stages at the decision points of one streamed text. `text` is always all text so far. */
export type CascadePoints = {
  /** From decision points with the results of the first stage. */
  settle(text: string, points: readonly DecisionPoint[], ask: AskInTurn): MaybePromise<readonly DecisionPoint[]>
  /** Reads what is left for the encoder, at the end of the text. */
  readDeferred(text: string, ask: AskInTurn): MaybePromise<unknown>
  /** The strongest result at the decision points so far. Undefined while no decision point was near. */
  decided(): Classification | undefined
  /** Classifies the unfinished tail without calling the encoder. `linear` is the result of the first stage for it. */
  peek(text: string, linear: Classification, end: number): Classification
}

/** The encoder classifies this many characters before a decision point, and runs again after `askedEvery` further ones. */
const windowCharacters = 512
const askedEvery = 256
/** New words are also classified with this many characters before them, because a statement may begin there. */
const contextCharacters = 64

type ReadPoint = { readonly end: number; readonly linear: Classification; readonly both: Classification }
type UnreadPoint = { readonly end: number; readonly window: string; readonly linear: Classification }

/**
 * When the linear score at a decision point reaches `askFrom`, the encoder classifies the 512 characters before it. It runs at most
 * once per 256 characters; flags raised in between are held until its next run.
 */
export function createCascadePoints({
  first,
  direction,
  isNear,
  questionOf,
  judged,
}: CascadePointsParts): CascadePoints {
  const windows = createWindows()
  let decided: Classification | undefined
  /** The strongest result of the first stage at the decision points so far. */
  let linearBefore: Classification | undefined
  /** The last decision point at which the encoder has read the text. */
  let read: ReadPoint | undefined
  /** What the first stage flags at the decision points after that. */
  let deferred: Classification | undefined

  function settlePoint(text: string, point: DecisionPoint, ask: AskInTurn): MaybePromise<unknown> {
    const window = windowTo(text, point.end)
    const own = linearAt(point, linearBefore, first.classify(window, direction))
    linearBefore = point.classification
    const linear = highest(own, deferred)
    const hasRead = read !== undefined && point.end - read.end < askedEvery
    if (!isNear(linear) || !isReadableScript(window)) return decide(linear)
    if (!hasRead) return readPoint({ end: point.end, window, linear }, ask)
    const lowered = deferred === undefined ? unconfirmedLowered(text, linear, point.end) : linear
    return lowered.flagged.length > 0 ? (deferred = linear) : decide(lowered)
  }

  /**
   * The result of the first stage at a position, without what it found before and the encoder did not confirm. It stays as it is
   * if the first stage finds something in the words after those that the encoder has read.
   */
  function unconfirmedLowered(text: string, result: Classification, to: number): Classification {
    if (read === undefined || to - read.end > windowCharacters) return result
    const { end, linear, both } = read
    const added = to > end ? addedAfter(text, end, to) : noClassification
    if (added === undefined) return result
    return flagged((category) =>
      result.scores[category] <= linear.scores[category]
        ? Math.min(result.scores[category], Math.max(both.scores[category], added.scores[category]))
        : result.scores[category],
    )
  }

  /** The result of the first stage for the words between two positions. Undefined if it finds something in them. */
  function addedAfter(text: string, from: number, to: number): Classification | undefined {
    const added = first.classify(text.slice(from, to), direction)
    if (isNear(added)) return undefined
    const contextStart = windows.startOf(text, from, contextCharacters)
    const together = first.classify(text.slice(contextStart, to), direction)
    if (!isNear(together)) return added
    const context = first.classify(text.slice(contextStart, from), direction)
    const risen = perCategory((category) =>
      together.scores[category] > context.scores[category] ? together.scores[category] : 0,
    )
    return isNear({ scores: risen }) ? undefined : added
  }

  function readPoint({ end, window, linear }: UnreadPoint, ask: AskInTurn): MaybePromise<unknown> {
    return andThen(ask([window], questionOf(linear)), (answers) => {
      const both = judged(linear, answers, { direction, unread: 0, windows: [window] })
      if (both.stage === 'encoder') read = { end, linear, both }
      decide(both)
    })
  }

  function decide(classification: Classification): void {
    deferred = undefined
    decided = decided === undefined ? classification : strongest(decided, classification)
  }

  function windowTo(text: string, position: number): string {
    const { start, end } = windows.to(text, position)
    return text.slice(start, end)
  }

  return {
    settle(text, points, ask) {
      const firstNear = decided === undefined ? points.findIndex(({ classification }) => isNear(classification)) : 0
      if (firstNear === -1) {
        linearBefore = points.at(-1)?.classification
        return points
      }
      linearBefore = points[firstNear - 1]?.classification ?? linearBefore
      decided ??= linearBefore
      const settled = points.slice(0, firstNear)
      const settleOne = (point: DecisionPoint): MaybePromise<unknown> =>
        andThen(settlePoint(text, point, ask), () =>
          settled.push({ end: point.end, classification: decided ?? noClassification }),
        )
      return andThen(sequentially(points.slice(firstNear), settleOne), () => settled)
    },
    readDeferred: (text, ask) =>
      deferred && readPoint({ end: text.length, window: windowTo(text, text.length), linear: deferred }, ask),
    decided: () => decided,
    peek: (text, linear, end) =>
      deferred === undefined ? unconfirmedLowered(text, linear, end) : highest(linear, deferred),
  }
}

/**
 * The result of the first stage at one decision point. Its stream reports the highest scores so far: a score that has risen belongs
 * to this point, and no other score is higher than those. Without the encoder, decision points have the results of the first stage.
 */
function linearAt(point: DecisionPoint, before: Classification | undefined, window: Classification): Classification {
  const { scores } = point.classification
  return flagged((category) =>
    scores[category] > (before?.scores[category] ?? 0)
      ? scores[category]
      : Math.min(window.scores[category], scores[category]),
  )
}

const highest = (one: Classification, other: Classification = noClassification): Classification =>
  flagged((category) => Math.max(one.scores[category], other.scores[category]))

function flagged(scoreOf: Parameters<typeof perCategory<number>>[0]): Classification {
  const scores = perCategory(scoreOf)
  return { scores, flagged: categories.filter((category) => scores[category] >= flagThreshold) }
}
