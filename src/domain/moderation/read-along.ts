import type { Classifier, Direction } from './classifier.ts'
import { hiddenTexts, longestHint, mayHide, type HiddenText } from './hidden-text.ts'
import type { Span } from './normalise.ts'
import type { Reading } from './screen.ts'
import type { Slice } from './slices.ts'

/**
 * Reads along with a text that grows, so that a part of it is screened for little more than what is new in it. Each text
 * it is shown begins with the one before it; the part that is read goes from `start` to where its slices end.
 */
export type ReadAlong = (direction: Direction) => (text: string, start: number) => Reading

export function createReadAlong(classifier: Classifier): ReadAlong {
  return (direction) => {
    const follow = classifier.follow?.(direction)
    const watch = createHiddenTextWatch()
    return (text, start) => {
      const spanOf = (slice: Slice): Span => ({
        start: start + slice.start,
        end: start + slice.start + slice.text.length,
      })
      return {
        classify: (slice) => follow?.(text, spanOf(slice)) ?? classifier.classify(slice.text, direction),
        hiddenTexts: (slice) => watch(text, spanOf(slice)),
      }
    }
  }
}

function createHiddenTextWatch(): (text: string, span: Span) => readonly HiddenText[] {
  let watchedTo = 0
  /** Behind this place there is nothing that anything could be hidden in. */
  let hintsTo = 0
  return (text, { start, end }) => {
    if (end > watchedTo) {
      const part = text.slice(Math.max(0, watchedTo - longestHint), end)
      // One escape is enough: others may stand in the parts before and after.
      if (mayHide(part, 1)) hintsTo = end
      watchedTo = end
    }
    return start < hintsTo ? hiddenTexts(text.slice(start, end)) : []
  }
}
