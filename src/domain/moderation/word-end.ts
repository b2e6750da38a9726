import { foldCodePoint } from './confusables.ts'
import { minBase64Length, base64Start, isBase64Code } from './encoded-text.ts'
import { isWordCode } from './words.ts'

/** Where a word goes on for longer than this, it is cut. */
export const longestWord = 64

/**
 * The last place at or before `end` where a word does not go on, so that a part of a text holds no word that the text
 * does not hold. It depends on what stands before it alone.
 */
export type WordEnd = (text: string, end: number) => number

/** For one text, which may grow. */
export function createWordEnd(): WordEnd {
  const runStart = createRunStart()

  /** In a run that may be base64, between two groups of four: from anywhere else it would not be read. */
  function groupEnd(text: string, at: number): number {
    const length = at - runStart(text, at)
    return length < minBase64Length ? at : at - (length % 4)
  }

  return (text, end) => {
    for (let at = end; at > Math.max(0, end - longestWord); at--) {
      const code = text.charCodeAt(at - 1)
      if (!goesOn(code) && (!isBase64Code(code) || groupEnd(text, at) === at)) return at
    }
    const isHalved = isHighSurrogate(text.charCodeAt(end - 1))
    return isHalved ? end - 1 : groupEnd(text, end)
  }
}

/** Where the run of base64 letters begins that goes up to a place. Nothing of a long one is walked over twice. */
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

/** What is invisible does not end a word, and half of a character may be half of a letter. */
const goesOn = (code: number): boolean =>
  isWordCode(code) || (code >= 0x80 && (isSurrogate(code) || foldCodePoint(code) === ''))

const isSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xe000
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00
