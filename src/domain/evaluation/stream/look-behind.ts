/** Lengths of text in characters that count: white space counts once, what is invisible not at all. */
import { foldCodePoint } from '../../moderation/confusables.ts'

/**
 * So many are stepped over without being counted: a text of nothing else would be gone over again at every check. With a
 * window before them they are no more than what two slices of a long text share, so what is found here is found there.
 */
export const mostUncounted = 896

/** Where `count` characters before `end` begin. */
export function lookBehind(text: string, end: number, count: number): number {
  let at = end
  let left = count
  let spare = mostUncounted
  let wasSpace = false
  while (at > 0 && left > 0) {
    const unit = text.charCodeAt(at - 1)
    at -= isLowSurrogate(unit) && at > 1 ? 2 : 1
    const shown = unit < 0x80 ? undefined : foldCodePoint(text.codePointAt(at) ?? 0)
    const isInvisible = shown === ''
    const isSpace = shown === undefined ? isAsciiSpace(unit) : shown.trim() === ''
    if (spare > 0 && (isInvisible || (isSpace && wasSpace))) spare -= 1
    else left -= 1
    if (!isInvisible) wasSpace = isSpace
  }
  return at
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000

const isAsciiSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * The same for a text that grows, without walking over it each time. What does not count is mostly white space after white
 * space; where anything else that is special stands in the way, it is walked over all the same.
 */
export function createLookBehind(): typeof lookBehind {
  const uncounted: number[] = []
  let knownTo = 0
  let specialTo = 0
  let wasSpace = false

  function learn(text: string, end: number): void {
    for (; knownTo < end; knownTo++) {
      const code = text.charCodeAt(knownTo)
      const isSpace = isAsciiSpace(code)
      if (isSpace && wasSpace) uncounted.push(knownTo - 1)
      wasSpace = isSpace
      if (code >= 0x80 && !countsAsOne(code)) specialTo = knownTo + 1
    }
  }
  return (text, end, count) => {
    if (end <= count) return 0
    learn(text, end)
    let start = end - count
    let spare = mostUncounted
    for (let at = uncounted.length - 1; at >= 0 && spare > 0; at--) {
      const place = uncounted[at] ?? 0
      if (place < start) break
      if (place >= end - 1) continue // the last character counts, whatever follows it
      start -= 1
      spare -= 1
    }
    return start < specialTo ? lookBehind(text, end, count) : Math.max(0, start)
  }
}

const countsAsOne = (code: number): boolean => (code < 0xd800 || code >= 0xe000) && foldCodePoint(code).trim() !== ''
