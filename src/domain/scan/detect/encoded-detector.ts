import { encodedTexts, mayBeEncoded, minEncodedLength } from '../normalise/encoded-text.ts'
import type { SearchDetector } from './detector.ts'
import { pendingEncodedStart } from './pending-encoded-text.ts'

/**
 * Detects encoded text. It counts no matches, because encoded text is decoded only when the rules are evaluated. Text from
 * `settledTo` on is encoded, or may become so, and is not evaluated yet.
 */
export type EncodedTextDetector = Omit<SearchDetector, 'end'> & {
  /** True if the text before this position, or the part of it that a scan covers, may contain encoded text. */
  mayReach(position: number): boolean
  /** The rules have evaluated the text up to this position, with what is encoded in it. */
  onEvaluated(position: number): void
}

/** Characters at the end of the text in which encoded text is searched. */
const tailCharacters = 512
/** A scan covers at most this many characters before its end. */
const scannedCharacters = 2_048

/** `longest`: the length of the longest term that is searched in encoded text. */
export function createEncodedTextDetector(longest: number): EncodedTextDetector {
  let tail = ''
  let length = 0
  /** After this position nothing can be encoded. */
  let mayBeEncodedTo = 0
  let found: { readonly start: number; readonly end: number } | undefined

  function search(): void {
    mayBeEncodedTo = length
    // The tail may begin inside a pair of hexadecimal digits.
    const first = encodedTexts(tail)[0] ?? encodedTexts(tail.slice(1))[0]
    if (first === undefined) return
    const start = length - tail.length + first.carrier.start
    found = { start: Math.min(start, found?.start ?? start), end: length }
  }

  return {
    push(text) {
      const added = tail + text
      length += text.length
      tail = added.length <= tailCharacters ? added : added.slice(-tailCharacters)
      if (mayBeEncoded(added.slice(-(text.length + minEncodedLength)))) search()
    },
    mayReach: (position) => mayBeEncodedTo > 0 && mayBeEncodedTo > position - scannedCharacters,
    onEvaluated(position) {
      if (found !== undefined && position >= found.end) found = undefined
    },
    matched: () => 0,
    settledTo() {
      const tailStart = length - tail.length
      const pending = longest === 0 ? length : tailStart + pendingEncodedStart(tail, tail.length, longest)
      return Math.min(pending, found?.start ?? pending)
    },
  }
}
