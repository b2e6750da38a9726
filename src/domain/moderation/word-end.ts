import { foldCodePoint } from './fold.ts'
import { isWordCode } from './words.ts'

/** Where a word goes on for longer than this, it is cut. */
export const longestWord = 64

/**
 * The last place at or before `end` where a word does not go on, so that a part of a text holds no word that the text
 * does not hold. It depends on what stands before it alone; where words are too long, no character is cut in two.
 */
export function wordEnd(text: string, end: number): number {
  for (let at = end; at > Math.max(0, end - longestWord); at--) if (!goesOn(text.charCodeAt(at - 1))) return at
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end
}

/** What is invisible does not end a word, and half of a character may be half of a letter. */
const goesOn = (code: number): boolean =>
  isWordCode(code) || (code >= 0x80 && (isSurrogate(code) || foldCodePoint(code) === ''))

const isSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xe000
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00
