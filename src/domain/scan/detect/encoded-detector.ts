import { encodedTexts, mayBeEncoded, minEncodedLength } from '../normalise/encoded-text.ts'
import { pendingEncodedStart } from './pending-encoded-text.ts'

/** Watches a streamed text for encoded text. */
export type EncodedStream = {
  push(text: string): void
  /** True if the text before this position, or the part of it that a scan covers, may contain encoded text. */
  mayReach(position: number): boolean
  /**
   * Text from this position on is encoded, or may become so, and is not evaluated yet. `evaluatedTo` is the position up to which
   * the text is evaluated, `longest` the length of the longest term that is searched in encoded text.
   */
  pendingFrom(evaluatedTo: number, longest: number): number
}

/** Characters at the end of the text in which encoded text is searched. */
const tailCharacters = 512
/** A scan covers at most this many characters before its end. */
const scannedCharacters = 2_048

export function createEncodedStream(): EncodedStream {
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
    pendingFrom(evaluatedTo, longest) {
      if (found !== undefined && evaluatedTo >= found.end) found = undefined
      const tailStart = length - tail.length
      const pending = longest === 0 ? length : tailStart + pendingEncodedStart(tail, tail.length, longest)
      return Math.min(pending, found?.start ?? pending)
    },
  }
}
