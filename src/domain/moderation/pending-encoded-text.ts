import { base64Start, tagCharacterLead } from './encoded-text.ts'

/** One character may be encoded in twelve, as in `&#x00000070;`. */
const longestEscape = 12
/** The most characters that are searched. */
const maxSearched = 512

/** Plain words and numbers. Base64 and hexadecimal mix letters and digits, or upper and lower case. */
const plainWord = /^-*(?:[A-Z]?[a-z]*|\d{1,2})-*$/
const hexPairs = /\b[0-9a-fA-F]{2}(?:[ :][0-9a-fA-F]{2})*[ :][0-9a-fA-F]{1,2}[ :]?$/
const escape = /%(?:[0-9a-fA-F]{2}|[0-9a-fA-F]?$)|&(?:#|$)|\\(?:[ux]|$)/i

/**
 * Start of a pending encoded run at the end of a streamed text: an encoding that is not complete yet, and that further text may
 * turn into a match of up to `longest` characters. Returns `end` if there is none.
 */
export function pendingEncodedStart(text: string, end: number, longest: number): number {
  const first = Math.max(0, end - Math.min(maxSearched, longest * longestEscape))
  const tail = text.slice(first, end)
  const run = base64Start(tail, tail.length, 0)
  const starts = [
    plainWord.test(tail.slice(run)) ? tail.length : run,
    hexPairs.exec(tail)?.index ?? tail.length,
    tail.includes(tagCharacterLead) ? tail.indexOf(tagCharacterLead) : tail.length,
    // A word may be escaped only in part.
    (escape.exec(tail)?.index ?? tail.length + longest) - longest,
  ]
  return first + Math.max(0, Math.min(...starts))
}
