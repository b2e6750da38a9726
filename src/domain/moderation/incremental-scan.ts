import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { strongest, withAll, type Classification, type Classifier, type TextDirection } from './classifier.ts'
import { encodedTexts, minEncodedLength, mayBeEncoded, type EncodedText } from './encoded-text.ts'
import type { Span } from './normalise.ts'
import { createIncrementalSearch } from './personal-data/incremental-search.ts'
import { withEncoded, type ScanMode } from './scan.ts'
import type { TextSlice } from './slices.ts'

/** Scans a streamed text incrementally: a scan costs little more than the text added since the last one. */
export type IncrementalScan = (direction: TextDirection) => StreamedText

/** Each text passed must start with the previous one. */
export type StreamedText = {
  /** The scan mode for a part of an unfinished text: each window is classified, and the strongest result counts. */
  scanPart(part: TextRange): ScanMode
  /** The scan mode for the complete text: as a whole, and in the windows not scanned before. */
  scanWhole(text: string, earlier: EarlierScans): ScanMode
  /** Up to this position, more text cannot change the personal data found in the last part. */
  settledTo(): number
  /** Commits the matches of the last part. Without this call the next scan starts from the previous commit. */
  commit(): void
}

export type TextRange = Span & { readonly text: string; readonly windows: readonly Span[] }

type EarlierScans = {
  /** The windows that end in a range. Called for each slice when it is scanned. */
  readonly windowsIn: (range: Span) => readonly Span[]
  /** The strongest classification of the windows scanned before. */
  readonly known: Classification | undefined
}

export function createIncrementalScan(classifier: Classifier): IncrementalScan {
  return (direction) => {
    const classifyRange = classifier.startRanges?.(direction)
    const encodedIn = createEncodedTextSearch()
    let committed = createIncrementalSearch()
    let last = committed
    let settledTo = 0

    const classify = (text: string, span: Span): MaybePromise<Classification> => {
      const own = classifyRange?.(text, span) ?? classifier.classify(text.slice(span.start, span.end), direction)
      return andThen(own, (classification) =>
        withEncoded(classification, encodedIn(text, span), { classifier, direction }),
      )
    }

    return {
      scanPart: ({ text, start, end, windows }) => ({
        name: 'part',
        classify(slice) {
          const span = spanOf(slice, start)
          const [first = span, ...others] = endingIn(span, windows)
          return andThen(classify(text, first), (own) => withAll(own, others, (window) => classify(text, window)))
        },
        encodedTexts: (slice) => encodedIn(text, spanOf(slice, start)),
        personalData() {
          last = committed.fork()
          settledTo = last.searchSettled(text.slice(0, end))
          return last.matches
        },
      }),
      scanWhole(text, { windowsIn, known }) {
        const search = committed.fork()
        return {
          name: 'whole and in windows',
          classify(slice) {
            const span = spanOf(slice, 0)
            const withKnown = (own: Classification): Classification => (known ? strongest(own, known) : own)
            return andThen(classify(text, span), (own) =>
              withAll(withKnown(own), endingIn(span, windowsIn(span)), (window) => classify(text, window)),
            )
          },
          encodedTexts: (slice) => encodedIn(text, spanOf(slice, 0)),
          personalData(slice) {
            search.searchTo(text, spanOf(slice, 0).end)
            return search.matches
          },
        }
      },
      settledTo: () => settledTo,
      commit: () => void (committed = last),
    }
  }
}

const spanOf = (slice: TextSlice, start: number): Span => ({
  start: start + slice.start,
  end: start + slice.start + slice.text.length,
})

const endingIn = (span: Span, windows: readonly Span[]): readonly Span[] =>
  windows.filter(({ end }) => end > span.start && end <= span.end)

function createEncodedTextSearch(): (text: string, span: Span) => readonly EncodedText[] {
  let searchedTo = 0
  /** After this position nothing can be an encoded text. */
  let mayBeEncodedTo = 0
  return (text, { start, end }) => {
    if (end > searchedTo) {
      const part = text.slice(Math.max(0, searchedTo - minEncodedLength), end)
      if (mayBeEncoded(part)) mayBeEncodedTo = end
      searchedTo = end
    }
    return start < mayBeEncodedTo ? encodedTexts(text.slice(start, end)) : nothing
  }
}

const nothing: readonly EncodedText[] = []
