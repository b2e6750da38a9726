/**
 * Text inside text: base64, hexadecimal, escapes of the web and of programs, and invisible letters. What comes out is screened as a text of
 * its own, since mixed into its carrier it would count for little.
 */
import type { Span } from './normalise.ts'

/** A text that was wrapped in another, and where the wrapping stands. */
export type EncodedText = { readonly text: string; readonly carrier: Span }

const deepest = 2
const mostTexts = 8
const mostCharacters = 65_536

const base64Runs = /[A-Za-z0-9+/_-]{24,}/g
/** Nothing that is written in base64 looks like this. */
const hashes = /^[0-9a-fA-F]+$/
/** As programs write it, in lines. */
const base64Lines = /[A-Za-z0-9+/_-]+(?:\r?\n[A-Za-z0-9+/_-]+)*/g
const hexRuns = /(?:[0-9a-fA-F]{2}[ :]?){12,}/g
const escapes =
  /(?:%[0-9a-f]{2})+|(?:\\x[0-9a-f]{2})+|&#(?:x[0-9a-f]{1,8}|\d{1,9});?|\\u(?:\{[0-9a-f]{1,6}\}|[0-9a-f]{4})/gi
const anyEscape = /%[0-9a-f]{2}|&#|\\[ux]/i
/** A second alphabet that is never shown, and that models read. */
const unseenLetters = /[\u{e0020}-\u{e007e}]/gu
/** Half of each of them. */
export const tagCharacterLead = '\udb40'
/** Addresses have escapes too, but hardly so many, and never for a plain letter. */
const fewestEscapes = 4

export function encodedTexts(text: string): readonly EncodedText[] {
  return mayBeEncoded(text) ? search(text, 1) : nothing
}

const nothing: readonly EncodedText[] = []

/** Where there are many, the last ones are read as one text: none goes unread. */
function search(text: string, depth: number): readonly EncodedText[] {
  const found: EncodedText[] = []
  for (const wrapped of wrappedIn(text)) {
    if (wrapped.reading === 'writing') found.push(wrapped)
    if (wrapped.reading !== 'noise' && depth < deepest && mayBeEncoded(wrapped.text))
      found.push(...search(wrapped.text, depth + 1).map((inner) => ({ text: inner.text, carrier: wrapped.carrier })))
  }
  const others = found.splice(mostTexts - 1)
  return others.length < 2 ? [...found, ...others] : [...found, joined(others)]
}

const joined = (several: readonly EncodedText[]): EncodedText => ({
  text: several.map(({ text }) => text).join('\n'),
  carrier: {
    start: Math.min(...several.map(({ carrier }) => carrier.start)),
    end: Math.max(...several.map(({ carrier }) => carrier.end)),
  },
})

/** What is no writing may still be another wrapping, unless it cannot even be printed. */
type Wrapped = EncodedText & { readonly reading: 'writing' | 'signs' | 'noise' }

/** Each kind is looked for only where it may be: in most texts that may hide something, an escape is all there is. */
function* wrappedIn(text: string): Generator<Wrapped> {
  if (hasBase64(text)) yield* wrappedInBase64(text)
  if (hasHex(text)) {
    for (const run of text.matchAll(hexRuns)) {
      const bytes = Buffer.from(run[0].slice(0, mostCharacters).replace(/[ :]/g, ''), 'hex')
      yield unwrapped(run, bytes.toString('utf8'))
    }
  }
  const carrier = { start: 0, end: text.length }
  const unescaped = unescapeAll(text.slice(0, mostCharacters))
  if (unescaped !== undefined) yield { text: unescaped, carrier, reading: 'writing' }
  const unseen = text.match(unseenLetters)
  if (unseen !== null) yield { text: unseen.map(shown).join(''), carrier, reading: 'writing' }
}

function* wrappedInBase64(text: string): Generator<Wrapped> {
  for (const run of text.matchAll(base64Runs)) {
    if (!hashes.test(run[0])) yield unwrapped(run, fromBase64(run[0].slice(0, mostCharacters)))
  }
  for (const run of text.matchAll(base64Lines)) {
    const isWrapped = run[0].length > minBase64Length && run[0].includes('\n')
    if (isWrapped) yield unwrapped(run, fromBase64(run[0].slice(0, mostCharacters).replace(/\s/g, '')))
  }
}

const shown = (letter: string): string => String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0xe0000)

const unwrapped = (run: RegExpExecArray, text: string): Wrapped => ({
  text,
  carrier: { start: run.index, end: run.index + run[0].length },
  reading: decodedKind(text),
})

/** So much shows whether a run is read from the right letter on. */
const glimpse = 96

/** Letters that stand right before it belong to the run, and shift what it says. */
function fromBase64(run: string): string {
  const from = [0, 1, 2, 3].find((start) => decodedKind(decoded(run.slice(start, start + glimpse))) === 'writing') ?? 0
  return decoded(run.slice(from))
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

const base64Letters = lettersOf(/[A-Za-z0-9+/_-]/)
/** With what may stand between its lines, however short these are. */
const base64LineLetters = lettersOf(/[A-Za-z0-9+/_\r\n-]/)
/** With what may stand between its pairs. */
const hexLetters = lettersOf(/[0-9a-fA-F :]/)
export const minBase64Length = 24
const hexRun = 24

export const isBase64Code = (code: number): boolean => base64Letters[code] === 1

/** Where the letters begin, from `first` on, that go up to `end`. */
export const base64Start = (text: string, end: number, first: number): number => {
  let start = end
  while (start > first && isBase64Code(text.charCodeAt(start - 1))) start -= 1
  return start
}

/** Text is hidden in no fewer characters than these, but for escapes. */
export const minEncodedLength = Math.max(minBase64Length, hexRun)

/** Rules out nearly every text, for a small part of what the patterns cost. */
export const mayBeEncoded = (text: string): boolean =>
  hasBase64(text) || hasHex(text) || anyEscape.test(text) || text.includes(tagCharacterLead)

const hasBase64 = (text: string): boolean => hasRun(text, base64LineLetters, minBase64Length)
const hasHex = (text: string): boolean => hasRun(text, hexLetters, hexRun)

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

/** Most decoded runs are keys, hashes and pictures. Writing is letters and spaces, with hardly anything unprintable. */
export function decodedKind(text: string): Wrapped['reading'] {
  const mostUnprintable = text.length * 0.1
  let letters = 0
  let unprintable = 0
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at))
    if (kind === 'letter') letters += 1
    else if (kind === 'unprintable' && ++unprintable > mostUnprintable) return 'noise'
  }
  return text.length >= 12 && letters >= text.length * 0.7 ? 'writing' : 'signs'
}

/** White space counts with the letters. */
function kindOf(code: number): 'letter' | 'sign' | 'unprintable' {
  if (code >= 0xa0) return code === 0xfffd ? 'unprintable' : 'letter'
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d ? 'letter' : 'unprintable'
  if (code >= 0x7f) return 'unprintable'
  const small = code | 0x20
  return code === 0x20 || (small >= 97 && small <= 122) ? 'letter' : 'sign'
}

function unescapeAll(text: string): string | undefined {
  let count = 0
  const plain = text.replace(escapes, (escape) => {
    const read = unescape(escape)
    count += /[a-z0-9]/i.test(read) ? fewestEscapes : read.length
    return read
  })
  return count >= fewestEscapes ? plain : undefined
}

/** Bytes in a row are letters together, as those of `%C3%A9` are. */
function unescape(escape: string): string {
  if (/^(?:%|\\x)/i.test(escape)) return Buffer.from(escape.replace(/%|\\x/gi, ''), 'hex').toString('utf8')
  const isDecimal = /^&#\d/.test(escape)
  const code = Number.parseInt(escape.replace(/[^0-9a-f]/gi, ''), isDecimal ? 10 : 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : escape
}
