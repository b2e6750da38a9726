import { isHighSurrogate, isLowSurrogate } from './code-units.ts'
import { foldCodePoint } from './confusables.ts'
import { minBase64Length, base64Start, isBase64Code } from './encoded-text.ts'
import { isWordCode } from './words.ts'

/** Longer words are cut. */
export const longestWord = 64

/**
 * The last word boundary at or before `end`, so that a part of a text contains no word that the text does not contain. Depends
 * only on the text before `end`.
 */
export type WordEnd = (text: string, end: number) => number

/** For one text, which may be streamed. */
export function createWordEnd(): WordEnd {
  const runStart = createRunStart()

  /** In a run that may be base64, a boundary between two groups of four, because it cannot be decoded from elsewhere. */
  function groupEnd(text: string, at: number): number {
    const length = at - runStart(text, at)
    return length < minBase64Length ? at : at - (length % 4)
  }

  return (text, end) => {
    for (let at = end; at > Math.max(0, end - longestWord); at--) {
      const code = text.charCodeAt(at - 1)
      if (!continuesWord(code) && (!isBase64Code(code) || groupEnd(text, at) === at)) return at
    }
    const splitsPair = isHighSurrogate(text.charCodeAt(end - 1))
    return splitsPair ? end - 1 : groupEnd(text, end)
  }
}

/** Start of the run of base64 letters that ends at a position. Walks over a long run only once. */
function createRunStart(): WordEnd {
  let known = { start: 0, end: 0 }
  return (text, end) => {
    if (end < known.start) known = { start: base64Start(text, end, 0), end }
    if (end > known.end) {
      const start = base64Start(text, end, known.end)
      known = { start: start > known.end ? start : known.start, end }
    }
    return known.start
  }
}

/** Invisible characters do not end a word, and a surrogate may be half of a letter. */
const continuesWord = (code: number): boolean =>
  isWordCode(code) || (code >= 0x80 && (isHighSurrogate(code) || isLowSurrogate(code) || foldCodePoint(code) === ''))
