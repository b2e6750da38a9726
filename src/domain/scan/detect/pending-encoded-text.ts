import { base64Start, tagCharacterLead } from '../normalise/encoded-text.ts'

/** One character may be encoded in twelve, as in `&#x00000070;`. */
const longestEscape = 12
/** The most characters that are searched. */
const maxSearched = 512

/** Plain words and numbers. Base64 and hexadecimal mix letters and digits, or upper and lower case. */
const plainWord = /^-*(?:[A-Z]?[a-z]*|\d{1,2})-*$/
const hexPairs = /\b[0-9a-fA-F]{2}(?:[ :][0-9a-fA-F]{2})*[ :][0-9a-fA-F]{1,2}[ :]?$/
/** An escape, also one that is cut at the end of the text. */
const escapes = /%(?:[0-9a-f]{2}|[0-9a-f]?$)|&(?:#x?[0-9a-f]{0,9};?|$)|\\(?:[ux]\{?[0-9a-f]{0,6}\}?|$)/gi

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
    escapedStart(tail, longest),
  ]
  return first + Math.max(0, Math.min(...starts))
}

/**
 * Start of the last `longest` characters, and the one before them, if one of them is an escape: a word may be escaped only in part.
 * Only ASCII letters and digits outside escapes are counted, because a term may match across any number of other characters.
 */
function escapedStart(tail: string, longest: number): number {
  let left = longest + 1
  let start = tail.length
  let isEscaped = false
  const goBackTo = (limit: number): void => {
    while (start > limit && left > 0) if (isLetterOrDigit(tail.charCodeAt(--start))) left -= 1
  }
  for (const escape of [...tail.matchAll(escapes)].reverse()) {
    goBackTo(escape.index + escape[0].length)
    if (left === 0) break
    isEscaped = true
    start = escape.index
  }
  if (!isEscaped) return tail.length
  goBackTo(0)
  return start
}

function isLetterOrDigit(code: number): boolean {
  const small = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (small >= 0x61 && small <= 0x7a)
}
