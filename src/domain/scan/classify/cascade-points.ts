import { andThen, sequentially, type MaybePromise } from '../../../base/maybe-promise.ts'
import { categories, perCategory } from './categories.ts'
import {
  flagThreshold,
  noClassification,
  strongest,
  type Classification,
  type ReachedPlace,
  type SynchronousClassifier,
  type TextDirection,
} from './classifier.ts'
import type { SecondStageParts } from './cascade-text.ts'
import type { AskInTurn } from './encoder-turns.ts'
import { isReadableScript } from './readable-script.ts'
import { createWindows } from '../normalise/windows.ts'

export type CascadePlacesParts = SecondStageParts & {
  readonly first: SynchronousClassifier
  readonly direction: TextDirection
}

/** The results of both stages at the places of one streamed text. `text` is always all text so far. */
export type CascadePlaces = {
  /** From places with the results of the first stage. */
  settle(text: string, places: readonly ReachedPlace[], ask: AskInTurn): MaybePromise<readonly ReachedPlace[]>
  /** Reads what is left for the encoder, at the end of the text. */
  readDeferred(text: string, ask: AskInTurn): MaybePromise<unknown>
  /** The strongest result at the places so far. Undefined while no place was near. */
  decided(): Classification | undefined
  /** The result of the end of the text, up to a position, from what the first stage finds there. */
  look(text: string, looked: Classification, to: number): Classification
}

/** The encoder reads the last 512 characters before a place. After so many further ones it is asked again. */
const askedEvery = 256
const windowCharacters = 512
/** New words are also classified with so many characters before them, because a statement may begin there. */
const contextCharacters = 64

type ReadPlace = { readonly end: number; readonly linear: Classification; readonly both: Classification }
type UnreadPlace = { readonly end: number; readonly window: string; readonly linear: Classification }

/**
 * At a place that the first stage scores high enough, the encoder reads the window before the place. If it has just read there,
 * what the first stage flags is held back, and left until it reads again.
 */
export function createCascadePlaces({
  first,
  direction,
  isNear,
  questionOf,
  judged,
}: CascadePlacesParts): CascadePlaces {
  const windows = createWindows()
  let decided: Classification | undefined
  /** The strongest result of the first stage at the places so far. */
  let linearBefore: Classification | undefined
  /** The last place at which the encoder has read the text. */
  let read: ReadPlace | undefined
  /** What the first stage flags at the places after that. */
  let deferred: Classification | undefined

  function settlePlace(text: string, place: ReachedPlace, ask: AskInTurn): MaybePromise<unknown> {
    const window = windowTo(text, place.end)
    const own = linearAt(place, linearBefore, first.classify(window, direction))
    linearBefore = place.classification
    const linear = highest(own, deferred)
    const hasRead = read !== undefined && place.end - read.end < askedEvery
    if (!isNear(linear) || !isReadableScript(window)) return decide(linear)
    if (!hasRead) return readPlace({ end: place.end, window, linear }, ask)
    const lowered = deferred === undefined ? unconfirmedLowered(text, linear, place.end) : linear
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

  function readPlace({ end, window, linear }: UnreadPlace, ask: AskInTurn): MaybePromise<unknown> {
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
    settle(text, places, ask) {
      const firstNear = decided === undefined ? places.findIndex(({ classification }) => isNear(classification)) : 0
      if (firstNear === -1) {
        linearBefore = places.at(-1)?.classification
        return places
      }
      linearBefore = places[firstNear - 1]?.classification ?? linearBefore
      decided ??= linearBefore
      const settled = places.slice(0, firstNear)
      const settleOne = (place: ReachedPlace): MaybePromise<unknown> =>
        andThen(settlePlace(text, place, ask), () =>
          settled.push({ end: place.end, classification: decided ?? noClassification }),
        )
      return andThen(sequentially(places.slice(firstNear), settleOne), () => settled)
    },
    readDeferred: (text, ask) =>
      deferred && readPlace({ end: text.length, window: windowTo(text, text.length), linear: deferred }, ask),
    decided: () => decided,
    look: (text, looked, to) =>
      deferred === undefined ? unconfirmedLowered(text, looked, to) : highest(looked, deferred),
  }
}

/**
 * The result of the first stage at one place. Its stream reports the highest scores so far: a score that has risen is that of this
 * place, and no other score is higher than those. Without the encoder the places then have the results of the first stage.
 */
function linearAt(place: ReachedPlace, before: Classification | undefined, window: Classification): Classification {
  const { scores } = place.classification
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
