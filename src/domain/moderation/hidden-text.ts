/**
 * Text inside text: base64, hexadecimal, and escapes of the web and of programs. What comes out is screened as a text of
 * its own, since mixed into its carrier it would count for little.
 */
import type { Span } from './normalise.ts'

/** A text that was wrapped in another, and where the wrapping stands. */
export type HiddenText = { readonly text: string; readonly carrier: Span }

const deepest = 2
const mostTexts = 8
const mostCharacters = 65_536

const base64Runs = /[A-Za-z0-9+/_-]{24,}/g
const hexRuns = /(?:[0-9a-fA-F]{2}[ :]?){16,}/g
const escapes = /%[0-9a-fA-F]{2}|&#x?[0-9a-fA-F]{1,6};|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}/g
const fewestEscapes = 4

export function hiddenTexts(text: string): readonly HiddenText[] {
  return mayHide(text) ? search(text, 1) : nothing
}

const nothing: readonly HiddenText[] = []

function search(text: string, depth: number): readonly HiddenText[] {
  const found: HiddenText[] = []
  for (const { text: hidden, carrier } of wrappedIn(text)) {
    if (found.length >= mostTexts) break
    found.push({ text: hidden, carrier })
    if (depth < deepest && mayHide(hidden))
      found.push(...search(hidden, depth + 1).map((inner) => ({ text: inner.text, carrier })))
  }
  return found.slice(0, mostTexts)
}

function* wrappedIn(text: string): Generator<HiddenText> {
  for (const run of text.matchAll(base64Runs))
    yield* readable(run, Buffer.from(run[0].slice(0, mostCharacters), 'base64'))
  for (const run of text.matchAll(hexRuns)) {
    yield* readable(run, Buffer.from(run[0].slice(0, mostCharacters).replace(/[ :]/g, ''), 'hex'))
  }
  const unescaped = unescapeAll(text.slice(0, mostCharacters))
  if (unescaped !== undefined) yield { text: unescaped, carrier: { start: 0, end: text.length } }
}

const base64Letters = lettersOf(/[A-Za-z0-9+/_-]/)
/** With what may stand between its pairs. */
const hexLetters = lettersOf(/[0-9a-fA-F :]/)
export const base64Run = 24
const hexRun = 32

export const isBase64Code = (code: number): boolean => base64Letters[code] === 1

/** Where the letters begin, from `first` on, that go up to `end`. */
export const base64Start = (text: string, end: number, first: number): number => {
  let start = end
  while (start > first && isBase64Code(text.charCodeAt(start - 1))) start -= 1
  return start
}

/** Text is hidden in no fewer characters than these, but for escapes. */
export const longestHint = Math.max(base64Run, hexRun)

/** Rules out nearly every text, for a small part of what the patterns cost. */
export function mayHide(text: string, escapesNeeded = fewestEscapes): boolean {
  return (
    hasRun(text, base64Letters, base64Run) ||
    hasRun(text, hexLetters, hexRun) ||
    countOf(text, '%') + countOf(text, '&#') + countOf(text, '\\') >= escapesNeeded
  )
}

function lettersOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
}

/** Looks at the last place of a possible run first, so that most of a text is stepped over. */
function hasRun(text: string, letters: Uint8Array, length: number): boolean {
  for (let last = length - 1; last < text.length;) {
    let at = last
    while (at > last - length && letters[text.charCodeAt(at)] === 1) at -= 1
    if (at === last - length) return true
    last = at + length
  }
  return false
}

function countOf(text: string, sign: string): number {
  let count = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + sign.length)) count += 1
  return count
}

function* readable(run: RegExpExecArray, bytes: Buffer): Generator<HiddenText> {
  const text = bytes.toString('utf8')
  if (looksLikeText(text)) yield { text, carrier: { start: run.index, end: run.index + run[0].length } }
}

/** Most decoded runs are keys, hashes and pictures. Writing is letters and spaces, with hardly anything unprintable. */
function looksLikeText(text: string): boolean {
  const letters = text.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0
  const unprintable = text.match(/[\ufffd\p{Cc}](?<![\n\r\t])/gu)?.length ?? 0
  return text.length >= 12 && letters >= text.length * 0.7 && unprintable <= text.length * 0.02
}

function unescapeAll(text: string): string | undefined {
  let count = 0
  const plain = text.replace(escapes, (escape) => {
    count += 1
    const isDecimal = escape.startsWith('&#') && !/^&#x/i.test(escape)
    const code = Number.parseInt(escape.replace(/[^0-9a-fA-F]/g, ''), isDecimal ? 10 : 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : escape
  })
  return count >= fewestEscapes ? plain : undefined
}
