/**
 * Finds encoded text inside a text: base64, hexadecimal, URL, HTML and string escapes, and invisible tag characters. Decoded
 * texts are scanned separately, because mixed into the surrounding text they would hardly change its scores.
 */
import type { Span } from './normalise.ts'

/** A decoded text, and the position of its encoding in the carrier text. */
export type EncodedText = { readonly text: string; readonly carrier: Span }

const maxDepth = 2
const maxTexts = 8
const maxCharacters = 65_536

const base64Runs = /[A-Za-z0-9+/_-]{24,}/g
/** Real base64 contains other characters as well. */
const hashes = /^[0-9a-fA-F]+$/
/** The lines of base64 after the first. */
const nextLines = /(?:\r?\n[A-Za-z0-9+/_-]+)+/y
const hexRuns = /(?:[0-9a-fA-F]{2}[ :]?){12,}/g
const escapes =
  /(?:%[0-9a-f]{2})+|(?:\\x[0-9a-f]{2})+|&#(?:x[0-9a-f]{1,8}|\d{1,9});?|\\u(?:\{[0-9a-f]{1,6}\}|[0-9a-f]{4})/gi
const anyEscape = /%[0-9a-f]{2}|&#|\\[ux]/i
/** Unicode tag characters: invisible copies of ASCII that models can read. */
const tagCharacters = /[\u{e0020}-\u{e007e}]/gu
/** The leading surrogate of every tag character. */
export const tagCharacterLead = '\udb40'
/** URLs contain escapes as well, but rarely this many, and never for plain letters. */
const minEscapes = 4

export function encodedTexts(text: string): readonly EncodedText[] {
  return mayBeEncoded(text) ? search(text, 1) : nothing
}

const nothing: readonly EncodedText[] = []

/** If there are many, the last ones are joined to one text, so that none is skipped. */
function search(text: string, depth: number): readonly EncodedText[] {
  const texts: EncodedText[] = []
  for (const run of decodedRuns(text)) {
    if (run.kind === 'text') texts.push(run)
    if (run.kind !== 'binary' && depth < maxDepth && mayBeEncoded(run.text))
      texts.push(...search(run.text, depth + 1).map((inner) => ({ text: inner.text, carrier: run.carrier })))
  }
  const others = texts.splice(maxTexts - 1)
  return others.length < 2 ? [...texts, ...others] : [...texts, joined(others)]
}

const joined = (several: readonly EncodedText[]): EncodedText => ({
  text: several.map(({ text }) => text).join('\n'),
  carrier: {
    start: Math.min(...several.map(({ carrier }) => carrier.start)),
    end: Math.max(...several.map(({ carrier }) => carrier.end)),
  },
})

/** A decoded run. `symbols` may be another layer of encoding; `binary` is neither text nor encoded text. */
type DecodedRun = EncodedText & { readonly kind: 'text' | 'symbols' | 'binary' }

/** Runs the pattern of an encoding only if the text may contain it: in most texts that pass the first test, it is an escape. */
function* decodedRuns(text: string): Generator<DecodedRun> {
  if (hasBase64(text)) yield* decodedBase64Runs(text)
  if (hasHex(text)) {
    for (const run of text.matchAll(hexRuns)) {
      const bytes = Buffer.from(run[0].slice(0, maxCharacters).replace(/[ :]/g, ''), 'hex')
      yield decodeRun(carrierOf(run), bytes.toString('utf8'))
    }
  }
  const carrier = { start: 0, end: text.length }
  const unescaped = unescapeAll(text.slice(0, maxCharacters))
  if (unescaped !== undefined) yield { text: unescaped, carrier, kind: 'text' }
  const tags = text.match(tagCharacters)
  if (tags !== null) yield { text: tags.map(visibleLetter).join(''), carrier, kind: 'text' }
}

function* decodedBase64Runs(text: string): Generator<DecodedRun> {
  for (const run of text.matchAll(base64Runs)) {
    if (!hashes.test(run[0])) yield decodeRun(carrierOf(run), fromBase64(run[0].slice(0, maxCharacters)))
  }
  for (const carrier of base64Lines(text)) {
    const lines = text.slice(carrier.start, Math.min(carrier.end, carrier.start + maxCharacters))
    yield decodeRun(carrier, fromBase64(lines.replace(/\s/g, '')))
  }
}

/** The runs of base64 in several lines. Begins at line breaks, because every word is a run of base64 letters. */
function* base64Lines(text: string): Generator<Span> {
  for (let at = text.indexOf('\n'); at !== -1;) {
    const lineEnd = text[at - 1] === '\r' ? at - 1 : at
    const start = base64Start(text, lineEnd, 0)
    nextLines.lastIndex = lineEnd
    const hasMore = start < lineEnd && nextLines.test(text)
    const end = hasMore ? nextLines.lastIndex : at + 1
    if (hasMore && end - start > minBase64Length) yield { start, end }
    at = text.indexOf('\n', end)
  }
}

const basePieces = /[A-Za-z0-9]+(?:[+/][A-Za-z0-9]+)*={0,2}/g
/** Capitals behind small letters, or digits between letters: in base64 most pieces look so, and in prose hardly any word. */
const mixedPiece = /[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|=$/
const longestGap = 8
const mostPlainPieces = 1

/** The texts of base64 that is cut into pieces by spaces, quotes, commas or plus signs. */
export function textsOfPieces(text: string): readonly string[] {
  return piecesOf(text)
    .filter((pieces) => pieces.length > 1)
    .map((pieces) => fromBase64(pieces.join('').slice(0, maxCharacters)))
    .filter((decodedText) => decodedKind(decodedText) === 'text')
}

/** Groups of neighbours that begin and end with a piece of base64. */
function piecesOf(text: string): readonly (readonly string[])[] {
  const groups: string[][] = []
  let end = -Infinity
  let plain: string[] = []
  for (const { 0: piece, index } of text.matchAll(basePieces)) {
    const isFar = index - end > longestGap || plain.length > mostPlainPieces
    end = index + piece.length
    if (!mixedPiece.test(piece)) plain.push(piece)
    else {
      if (isFar || groups.length === 0) groups.push([piece])
      else groups.at(-1)?.push(...plain, piece)
      plain = []
    }
  }
  return groups
}

const visibleLetter = (letter: string): string => String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0xe0000)

const carrierOf = (run: RegExpExecArray): Span => ({ start: run.index, end: run.index + run[0].length })

const decodeRun = (carrier: Span, text: string): DecodedRun => ({ text, carrier, kind: decodedKind(text) })

/** Characters sampled to decide at which letter a run of base64 starts. */
const sampleLength = 96

/** Letters directly before the base64 become part of the run and shift its alignment. */
function fromBase64(run: string): string {
  const from =
    [0, 1, 2, 3].find((start) => decodedKind(decoded(run.slice(start, start + sampleLength))) === 'text') ?? 0
  return decoded(run.slice(from))
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

const base64Letters = lettersOf(/[A-Za-z0-9+/_-]/)
/** With line breaks, for base64 wrapped in lines of any length. */
const base64LineLetters = lettersOf(/[A-Za-z0-9+/_\r\n-]/)
/** With the separators between pairs of digits. */
const hexLetters = lettersOf(/[0-9a-fA-F :]/)
export const minBase64Length = 24
const minHexLength = 24

export const isBase64Code = (code: number): boolean => base64Letters[code] === 1

/** Start of the run of base64 letters that ends at `end`, searching back to `first`. */
export const base64Start = (text: string, end: number, first: number): number => {
  let start = end
  while (start > first && isBase64Code(text.charCodeAt(start - 1))) start -= 1
  return start
}

/** Minimum length of an encoding other than escapes. */
export const minEncodedLength = Math.max(minBase64Length, minHexLength)

/** Rules out most texts at a fraction of the cost of the patterns. */
export const mayBeEncoded = (text: string): boolean =>
  hasBase64(text) || hasHex(text) || anyEscape.test(text) || text.includes(tagCharacterLead)

const hasBase64 = (text: string): boolean => hasRun(text, base64LineLetters, minBase64Length)
const hasHex = (text: string): boolean => hasRun(text, hexLetters, minHexLength)

function lettersOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
}

/** Tests the last position of a possible run first, which skips most of the text. */
function hasRun(text: string, letters: Uint8Array, length: number): boolean {
  for (let last = length - 1; last < text.length;) {
    let at = last
    while (at > last - length && letters[text.charCodeAt(at)] === 1) at -= 1
    if (at === last - length) return true
    last = at + length
  }
  return false
}

/** Most decoded runs are keys, hashes and images. Text consists of letters and spaces, with few unprintable characters. */
export function decodedKind(text: string): DecodedRun['kind'] {
  const maxUnprintable = text.length * 0.1
  let letters = 0
  let unprintable = 0
  for (let at = 0; at < text.length; at++) {
    const kind = characterKind(text.charCodeAt(at))
    if (kind === 'letter') letters += 1
    else if (kind === 'unprintable' && ++unprintable > maxUnprintable) return 'binary'
  }
  return text.length >= 12 && letters >= text.length * 0.7 ? 'text' : 'symbols'
}

/** White space counts as a letter. */
function characterKind(code: number): 'letter' | 'symbol' | 'unprintable' {
  if (code >= 0xa0) return code === 0xfffd ? 'unprintable' : 'letter'
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d ? 'letter' : 'unprintable'
  if (code >= 0x7f) return 'unprintable'
  const small = code | 0x20
  return code === 0x20 || (small >= 97 && small <= 122) ? 'letter' : 'symbol'
}

function unescapeAll(text: string): string | undefined {
  let count = 0
  const plain = text.replace(escapes, (escape) => {
    const decodedEscape = unescape(escape)
    count += /[a-z0-9]/i.test(decodedEscape) ? minEscapes : decodedEscape.length
    return decodedEscape
  })
  return count >= minEscapes ? plain : undefined
}

/** Decodes consecutive bytes together, because `%C3%A9` is one character. */
function unescape(escape: string): string {
  if (/^(?:%|\\x)/i.test(escape)) return Buffer.from(escape.replace(/%|\\x/gi, ''), 'hex').toString('utf8')
  const isDecimal = /^&#\d/.test(escape)
  const code = Number.parseInt(escape.replace(/[^0-9a-f]/gi, ''), isDecimal ? 10 : 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : escape
}
