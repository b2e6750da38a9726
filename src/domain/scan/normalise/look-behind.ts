/**
 * Measures text backwards in counted characters: a run of white space counts as one, and invisible characters do not
 * count, because terms match across both.
 */
import { isLowSurrogate } from './code-units.ts'
import { foldCodePoint } from './confusables.ts'

/**
 * Uncounted characters are skipped up to this number, because a text of nothing else would be walked again at every scan.
 * Together with one window it is no more than the overlap of two slices of a long text, so both find the same matches.
 */
export const maxUncounted = 896

/** Start of the last `count` counted characters before `end`. */
export function lookBehind(text: string, end: number, count: number): number {
  let at = end
  let left = count
  let skipsLeft = maxUncounted
  let wasSpace = false
  while (at > 0 && left > 0) {
    const unit = text.charCodeAt(at - 1)
    at -= isLowSurrogate(unit) && at > 1 ? 2 : 1
    const folded = unit < 0x80 ? undefined : foldCodePoint(text.codePointAt(at) ?? 0)
    const isInvisible = folded === ''
    const isSpace = folded === undefined ? isAsciiSpace(unit) : folded.trim() === ''
    if (skipsLeft > 0 && (isInvisible || (isSpace && wasSpace))) skipsLeft -= 1
    else left -= 1
    if (!isInvisible) wasSpace = isSpace
  }
  return at
}

export const isAsciiSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * The same for a text that grows, without walking over it at every call. Caches where white space repeats, and falls back
 * to the walk if the range contains any other special character.
 */
export function createLookBehind(): typeof lookBehind {
  const uncounted: number[] = []
  let indexedTo = 0
  let specialTo = 0
  let wasSpace = false

  function index(text: string, end: number): void {
    for (; indexedTo < end; indexedTo++) {
      const code = text.charCodeAt(indexedTo)
      const isSpace = isAsciiSpace(code)
      if (isSpace && wasSpace) uncounted.push(indexedTo - 1)
      wasSpace = isSpace
      if (code >= 0x80 && !countsAsOne(code)) specialTo = indexedTo + 1
    }
  }
  return (text, end, count) => {
    if (end <= count) return 0
    index(text, end)
    let start = end - count
    let skipsLeft = maxUncounted
    for (let at = uncounted.length - 1; at >= 0 && skipsLeft > 0; at--) {
      const position = uncounted[at] ?? 0
      if (position < start) break
      if (position >= end - 1) continue // the last character counts, whatever follows it
      start -= 1
      skipsLeft -= 1
    }
    return start < specialTo ? lookBehind(text, end, count) : Math.max(0, start)
  }
}

const countsAsOne = (code: number): boolean => (code < 0xd800 || code >= 0xe000) && foldCodePoint(code).trim() !== ''
