import { base64Start, tagCharacterLead } from './encoded-text.ts'

/** Twelve characters may stand for one, as in `&#x00000070;`. */
const widestSpelling = 12
/** The most that is looked at. */
const farthest = 512

/** No more than a letter of base64 or hexadecimal looks like this: they mix letters and digits, small and large. */
const plainWord = /^-*(?:[A-Z]?[a-z]*|\d{1,2})-*$/
const hexPairs = /\b[0-9a-fA-F]{2}(?:[ :][0-9a-fA-F]{2})*[ :][0-9a-fA-F]{1,2}[ :]?$/
const escape = /%(?:[0-9a-fA-F]{2}|[0-9a-fA-F]?$)|&(?:#|$)|\\(?:[ux]|$)/i

/**
 * Where in a growing text something may be hidden that is not complete yet, and cannot be read before it is: what comes
 * next may make it a match of up to `longest` characters. `end` where there is nothing of the kind.
 */
export function pendingEncodedStart(text: string, end: number, longest: number): number {
  const first = Math.max(0, end - Math.min(farthest, longest * widestSpelling))
  const tail = text.slice(first, end)
  const run = base64Start(tail, tail.length, 0)
  const starts = [
    plainWord.test(tail.slice(run)) ? tail.length : run,
    hexPairs.exec(tail)?.index ?? tail.length,
    tail.includes(tagCharacterLead) ? tail.indexOf(tagCharacterLead) : tail.length,
    // Not all of a word need be written in escapes.
    (escape.exec(tail)?.index ?? tail.length + longest) - longest,
  ]
  return first + Math.max(0, Math.min(...starts))
}
