import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { strongest, withAll, type Classification, type Classifier, type TextDirection } from './classifier.ts'
import { encodedTexts, minEncodedLength, mayBeEncoded, type EncodedText } from './encoded-text.ts'
import type { Span } from './normalise.ts'
import { createIncrementalSearch } from './personal-data/incremental-search.ts'
import { withEncoded, type ScanMode } from './scan.ts'
import type { TextSlice } from './slices.ts'

/** Reads along with a text that grows, so that a look at it costs little more than what is new in it. */
export type IncrementalScan = (direction: TextDirection) => StreamedText

/** Each text it is shown begins with the one before it. */
export type StreamedText = {
  /** How a part is read while more may come: in windows of which the strongest counts. */
  scanPart(part: TextRange): ScanMode
  /** How the text is read when it is complete: as one, and in the windows that were not read before. */
  scanWhole(text: string, more: MoreThanWhole): ScanMode
  /** Up to here, nothing that comes can still change what personal data the last part held. */
  settledTo(): number
  /** What the last part held is found for good. Otherwise, what is read next does not depend on it. */
  commit(): void
}

export type TextRange = Span & { readonly text: string; readonly windows: readonly Span[] }

type MoreThanWhole = {
  /** Those that end in a stretch, which is asked for when its turn has come. */
  readonly windowsIn: (stretch: Span) => readonly Span[]
  /** The strongest of the windows that were read before. */
  readonly known: Classification | undefined
}

export function createIncrementalScan(classifier: Classifier): IncrementalScan {
  return (direction) => {
    const follow = classifier.startStream?.(direction)
    const hiddenIn = createHiddenTextWatch()
    let kept = createIncrementalSearch()
    let last = kept
    let settledTo = 0

    const classify = (text: string, span: Span): MaybePromise<Classification> => {
      const own = follow?.(text, span) ?? classifier.classify(text.slice(span.start, span.end), direction)
      return andThen(own, (found) => withEncoded(found, hiddenIn(text, span), { classifier, direction }))
    }

    return {
      scanPart: ({ text, start, end, windows }) => ({
        name: 'part',
        classify(slice) {
          const span = spanOf(slice, start)
          const [first = span, ...others] = endingIn(span, windows)
          return andThen(classify(text, first), (found) => withAll(found, others, (window) => classify(text, window)))
        },
        encodedTexts: (slice) => hiddenIn(text, spanOf(slice, start)),
        personalData() {
          last = kept.fork()
          settledTo = last.searchSettled(text.slice(0, end))
          return last.found
        },
      }),
      scanWhole(text, { windowsIn, known }) {
        const search = kept.fork()
        return {
          name: 'whole and in windows',
          classify(slice) {
            const span = spanOf(slice, 0)
            const withKnown = (found: Classification): Classification => (known ? strongest(found, known) : found)
            return andThen(classify(text, span), (found) =>
              withAll(withKnown(found), endingIn(span, windowsIn(span)), (window) => classify(text, window)),
            )
          },
          encodedTexts: (slice) => hiddenIn(text, spanOf(slice, 0)),
          personalData(slice) {
            search.searchTo(text, spanOf(slice, 0).end)
            return search.found
          },
        }
      },
      settledTo: () => settledTo,
      commit: () => void (kept = last),
    }
  }
}

const spanOf = (slice: TextSlice, start: number): Span => ({
  start: start + slice.start,
  end: start + slice.start + slice.text.length,
})

const endingIn = (span: Span, windows: readonly Span[]): readonly Span[] =>
  windows.filter(({ end }) => end > span.start && end <= span.end)

function createHiddenTextWatch(): (text: string, span: Span) => readonly EncodedText[] {
  let watchedTo = 0
  /** Behind this place there is nothing that anything could be hidden in. */
  let hintsTo = 0
  return (text, { start, end }) => {
    if (end > watchedTo) {
      const part = text.slice(Math.max(0, watchedTo - minEncodedLength), end)
      if (mayBeEncoded(part)) hintsTo = end
      watchedTo = end
    }
    return start < hintsTo ? encodedTexts(text.slice(start, end)) : nothing
  }
}

const nothing: readonly EncodedText[] = []
