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
  return search(text, 1)
}

function search(text: string, depth: number): readonly HiddenText[] {
  const found: HiddenText[] = []
  for (const { text: hidden, carrier } of wrappedIn(text)) {
    if (found.length >= mostTexts) break
    found.push({ text: hidden, carrier })
    if (depth < deepest) found.push(...search(hidden, depth + 1).map((inner) => ({ text: inner.text, carrier })))
  }
  return found.slice(0, mostTexts)
}

function* wrappedIn(text: string): Generator<HiddenText> {
  const longest = longestRuns(text)
  for (const run of longest.base64 < 24 ? [] : text.matchAll(base64Runs))
    yield* readable(run, Buffer.from(run[0].slice(0, mostCharacters), 'base64'))
  for (const run of longest.hex < 32 ? [] : text.matchAll(hexRuns)) {
    yield* readable(run, Buffer.from(run[0].slice(0, mostCharacters).replace(/[ :]/g, ''), 'hex'))
  }
  const unescaped = unescapeAll(text.slice(0, mostCharacters))
  if (unescaped !== undefined) yield { text: unescaped, carrier: { start: 0, end: text.length } }
}

/** Which characters runs are made of: bit 1 for base64, bit 2 for hexadecimal and what may stand between its pairs. */
const runKinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code)
  return (/[A-Za-z0-9+/_-]/.test(letter) ? 1 : 0) | (/[0-9a-fA-F :]/.test(letter) ? 2 : 0)
})

/** A plain loop rules out nearly every text, for a small part of what the patterns cost. */
function longestRuns(text: string): { base64: number; hex: number } {
  const longest = { base64: 0, hex: 0 }
  let base64 = 0
  let hex = 0
  for (let at = 0; at < text.length; at++) {
    const kind = runKinds[text.charCodeAt(at)] ?? 0
    base64 = (kind & 1) === 0 ? 0 : base64 + 1
    hex = (kind & 2) === 0 ? 0 : hex + 1
    if (base64 > longest.base64) longest.base64 = base64
    if (hex > longest.hex) longest.hex = hex
  }
  return longest
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
