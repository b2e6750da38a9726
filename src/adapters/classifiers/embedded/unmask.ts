/** Finds the word behind an obfuscated token. Called only for unusual tokens, and once for each. */
import { createFeatureTable } from './feature-table.ts'
import { hashWord } from './hashing.ts'
import { commonMisspellings, listMisspellings, wordBehindStars } from './misspellings.ts'

/** The vocabulary of a model, in the order of frequency. */
export type Vocabulary = {
  /** 0 for the most common word; -1 for an unknown one. */
  rank(word: string): number
  readonly size: number
  /** Misspellings that are no words of their own, with the word behind each. */
  readonly misspellings: ReadonlyMap<string, string>
}

/** The vocabulary of a model, built from word hashes in the order of frequency. */
export function createVocabulary(hashes: Uint32Array): Vocabulary {
  const table = createFeatureTable(hashes)
  const rank = (word: string): number => table.indexOf(hashWord(word))
  const isWord = (token: string): boolean => rank(token) >= 0 && !commonMisspellings.has(token)
  const misspellings = [...listMisspellings()].filter(([token, word]) => !isWord(token) && isWord(word))
  return { rank, size: hashes.length, misspellings: new Map(misspellings) }
}

const plain = /^[a-z]+$/
const stretched = /(.)\1\1/
const number = /^[0-9]+$/
/** Numbers joined by symbols: longer than any obfuscated word without a letter. */
const numbers = /^[0-9$][0-9'*@!|+$]{8,}$/
const statedAge = /^([0-9]{1,2})(yo|yr|yrs|yrold)$/
/** The ordinal of a number that may be an age or a grade. `3nd` is none: it may be `end`. */
const youngOrdinal = /^(1st|2nd|3rd|([4-9]|1[0-7])th)$/

/** The word behind a token; usually the token itself. */
export function unmask(token: string, vocabulary: Vocabulary): string {
  if (plain.test(token) && !stretched.test(token)) return vocabulary.misspellings.get(token) ?? token
  const bare = token.replace(/^[^\p{L}\p{M}\p{N}$]+|[^\p{L}\p{M}\p{N}$]+$/gu, '')
  if (number.test(bare)) return isYoung(bare) ? '#young' : bare.length > 1 ? '00' : '0'
  if (numbers.test(bare)) return '00'
  const age = statedAge.exec(bare)
  if (age !== null && isYoung(age[1] ?? '')) return '#youngyo'
  if (youngOrdinal.test(bare)) return '#youngth'
  for (const candidate of candidates(bare)) if (vocabulary.rank(candidate) >= 0) return candidate
  for (const candidate of candidates(bare)) {
    const word = vocabulary.misspellings.get(candidate)
    if (word !== undefined) return word
  }
  const starred = bare.includes('*') ? wordBehindStars(bare) : undefined
  if (starred !== undefined) return starred
  return squeeze(bare, 2)
    .replace(/[0-9]/g, '0')
    .replace(/[@$!|+]/g, '')
}

/** A number that may be the age of a minor. */
const isYoung = (digits: string): boolean => Number(digits) > 0 && Number(digits) < 18

function* candidates(token: string): Generator<string> {
  for (const shape of [squeeze(token, 2), token.replace(/(.)\1{2,}/g, '$1'), squeeze(token, 1)]) {
    yield shape
    for (const one of ['i', 'l']) yield unleet(shape, one)
    if (shape.includes('*')) for (const vowel of 'uieao') yield unleet(shape, 'i').replaceAll('*', vowel)
  }
}

const squeeze = (word: string, longest: number): string =>
  word.replace(/(.)\1+/g, (run, letter: string) => letter.repeat(Math.min(run.length, longest)))

const letterBySign: Readonly<Record<string, string>> = {
  '0': 'o',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  '+': 't',
}

export const unleet = (word: string, one: string): string =>
  word.replace(/[0-9@$!|+]/g, (sign) => (sign === '1' ? one : (letterBySign[sign] ?? sign)))

const longestWord = 16

/** Splits letters written one by one into words, at the lowest cost: common words cost least. */
export function segment(letters: string, vocabulary: Vocabulary): readonly string[] {
  const text = unleet(letters, 'i')
  const costs = [0]
  const lengths = [0]
  for (let end = 1; end <= text.length; end++) {
    let bestCost = Infinity
    let bestLength = 1
    for (let length = 1; length <= Math.min(end, longestWord); length++) {
      const cost = (costs[end - length] ?? 0) + costOf(text.slice(end - length, end), vocabulary)
      if (cost < bestCost) [bestCost, bestLength] = [cost, length]
    }
    costs.push(bestCost)
    lengths.push(bestLength)
  }
  const words: string[] = []
  for (let end = text.length; end > 0; end -= lengths[end] ?? 1)
    words.unshift(text.slice(end - (lengths[end] ?? 1), end))
  return words
}

/** By Zipf's law the rank of a word gives its frequency. A letter that belongs to no word costs more than any word. */
function costOf(word: string, vocabulary: Vocabulary): number {
  const rank = vocabulary.rank(word)
  if (rank >= 0) return Math.log((rank + 2) * Math.log(vocabulary.size + 2))
  return word.length === 1 ? 20 : Infinity
}
