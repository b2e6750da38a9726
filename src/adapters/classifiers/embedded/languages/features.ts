/** The features of a sentence: its words, pairs of words, and parts of words, each as a slot of the model. */
import { hashGrams, hashNext, hashWord, maxGrams } from '../hashing.ts'
import { slots } from './language-model.ts'

/** A word, a number, or a letter of a script without spaces. */
const token = /[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[\p{L}\p{M}])+|\p{Nd}+/gu

/** A longer sentence is read in pieces. */
const mostTokens = 48

/** The tokens of a sentence in normal form, in pieces. */
export function piecesOf(normal: string): readonly (readonly string[])[] {
  const tokens = normal.match(token) ?? []
  return Array.from({ length: Math.ceil(tokens.length / mostTokens) }, (_, at) =>
    tokens.slice(at * mostTokens, (at + 1) * mostTokens),
  )
}

/** What a token is alone, without its neighbours. */
export type TokenFeatures = { readonly hash: number; readonly isLetter: boolean; readonly grams: Uint32Array }

const gramHashes = new Uint32Array(maxGrams)
const noGrams = new Uint32Array()

export function featuresOf(found: string): TokenFeatures {
  const isLetter = found >= '\u3040' && found < '\ua000' && found.length === 1
  const hash = hashWord(nameOf(found))
  if (isLetter) return { hash, isLetter, grams: noGrams }
  const count = hashGrams(found, gramHashes)
  return { hash, isLetter, grams: gramHashes.slice(0, count).map(slotOf) }
}

/** Smaller numbers are counts more often than ages. */
const youngest = 5

/** Numbers count as ages of minors, of adults, or as any other number. */
function nameOf(found: string): string {
  if (!/^\p{Nd}+$/u.test(found)) return found
  const value = valueOf(found)
  if (value >= youngest && value < 18) return '#minor'
  return value >= 18 && value < 100 ? '#adult' : '#'
}

/** The zeros of European, Arabic, Persian and Hindi digits. */
const zeros = [0x30, 0x660, 0x6f0, 0x966]

/** Not a number in other digits. */
function valueOf(digits: string): number {
  let value = 0
  for (let at = 0; at < digits.length; at++) {
    const code = digits.charCodeAt(at)
    const zero = zeros.find((first) => code >= first && code < first + 10)
    value = value * 10 + (zero === undefined ? Number.NaN : code - zero)
  }
  return value
}

const slotOf = (hash: number): number => (hash >>> 0) % slots

export type Visitor<Features> = {
  /** The slot of a word, of two neighbours, or of two words around a third. */
  word(slot: number): void
  /** The slot of three letters. */
  letters(slot: number): void
  /** A token, with the slots of its parts. */
  token(features: Features): void
}

/** Visits every feature of a piece, each time that it occurs. */
export function visitFeatures<Features extends TokenFeatures>(
  piece: readonly string[],
  read: (token: string) => Features,
  visitor: Visitor<Features>,
): void {
  let first: Features | undefined
  let before: Features | undefined
  for (const found of piece) {
    const features = read(found)
    visitor.token(features)
    visitor.word(slotOf(features.hash))
    if (before !== undefined) visitor.word(slotOf(hashNext(before.hash, features.hash)))
    if (first !== undefined) visitor.word(slotOf(hashNext(hashNext(first.hash, 1), features.hash)))
    if (features.isLetter && before !== undefined && first !== undefined)
      visitor.letters(slotOf(hashNext(hashNext(first.hash, before.hash), features.hash)))
    first = before
    before = features
  }
}
