import type { Clock } from '../../../base/clock.ts'
import { andThen } from '../../../base/maybe-promise.ts'
import { categories } from './categories.ts'
import { closestLogOdds, holdBackBoundOf, noClassification } from './classifier.ts'
import type { Classification, HoldBackBounds } from './classifier.ts'
import type { CascadePointsParts } from './cascade-points.ts'
import type { AskInTurn } from './encoder-turns.ts'
import { isReadableScript } from './readable-script.ts'
import { createWindows } from '../normalise/windows.ts'

export type CascadePeeksParts = Pick<CascadePointsParts, 'direction' | 'questionOf' | 'judged'> & {
  readonly bounds: HoldBackBounds
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Asks without a time limit, because nothing waits for the answer. */
  readonly askAside: AskInTurn
}

/** What both stages find at the end of one streamed text, between its decision points. It only changes how much is held back. */
export type CascadePeeks = {
  /**
   * Call after every chunk. Lets the encoder read the end of the text, up to a position, if that is held back. Nothing waits for the
   * encoder. `looked` is what the first stage finds there.
   */
  read(text: string, peeked: Classification, to: number): void
  /** The result of both stages for the end of the text. Without one that counts, `result`. */
  peek(result: Classification, peeked: Classification, to: number): Classification
}

/** The encoder reads fewer characters than at a decision point, so that harmless text before a statement does not hide it. */
const windowCharacters = 224
/** Characters after which the encoder reads again, and characters for which one of its results is used. */
const readEvery = 32
const countsFor = 256
/** No result is used before this position, because a few words do not say what a text is about. The encoder reads a word earlier. */
const countsFrom = 56
const readsFrom = 48
/** A result is no longer used if the score of the first stage has risen by more than this since, in log-odds. */
const mostRise = 0.5
/** If chunks come faster than this, the text is complete before the encoder has read, and it is not asked. */
const fewestMsPerChunk = 8

type ReadEnd = { readonly to: number; readonly peeked: Classification; readonly both: Classification }

export function createCascadePeeks(parts: CascadePeeksParts): CascadePeeks {
  const { bounds, clock, askAside, direction, questionOf, judged } = parts
  const readFor = categories.filter((category) => bounds.bothStages?.[category] !== undefined)
  const windows = createWindows()
  let isReading = false
  let nextFrom = readsFrom
  let chunkAtMs = -Infinity
  let last: ReadEnd | undefined

  const isHeld = (result: Classification): boolean =>
    readFor.some(
      (category) => closestLogOdds(result, [category]) >= holdBackBoundOf(bounds, category, result.stage).elevatedFrom,
    )

  const hasRisen = (before: Classification, now: Classification): boolean =>
    readFor.some((category) => closestLogOdds(now, [category]) - closestLogOdds(before, [category]) > mostRise)

  function isFastChunk(): boolean {
    const beforeMs = chunkAtMs
    chunkAtMs = clock.monotonicMs()
    return chunkAtMs - beforeMs < fewestMsPerChunk
  }

  function peek(result: Classification, peeked: Classification, to: number): Classification {
    if (last === undefined || to < countsFrom || to - last.to > countsFor || hasRisen(last.peeked, peeked))
      return result
    const scores = { ...result.scores }
    for (const category of readFor) scores[category] = last.both.scores[category]
    return { ...result, scores, stage: 'encoder' }
  }

  return {
    read(text, peeked, to) {
      const isFast = isFastChunk()
      if (isFast || isReading || to < nextFrom || !isHeld(peek(peeked, peeked, to))) return
      const window = text.slice(windows.startOf(text, to, windowCharacters), to)
      if (!isReadableScript(window)) return
      isReading = true
      nextFrom = to + readEvery
      void andThen(askAside([window], questionOf(noClassification)), (answers) => {
        isReading = false
        const both = judged(peeked, answers, { direction, unread: 0, windows: [window] })
        if (both.stage === 'encoder') last = { to, peeked, both }
      })
    },
    peek,
  }
}
