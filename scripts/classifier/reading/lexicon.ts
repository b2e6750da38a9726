/** Word lists with a meaning for moderation. A model contains them as hashes, each with a bit mask of lists. */
import { createFeatureTable } from '../../../src/adapters/classifiers/embedded/feature-table.ts'
import { hashBeginnings, hashNext, hashWord } from '../../../src/adapters/classifiers/embedded/hashing.ts'
import type { LexiconTables } from '../../../src/adapters/classifiers/embedded/model.ts'

export type Lexicon = {
  /** The lists that contain this word, as a bit mask. */
  listsOf(word: string): number
  /** Lengths of the phrases that end with this word, as a bit mask: bit 2 for two words, and so on. */
  phraseLengths(wordHash: number): number
  /** The lists that contain the phrase with this hash. */
  listsOfPhrase(phraseHash: number): number
}

export const longestPhrase = 8
const shortestStem = 3

export function createLexicon(tables: LexiconTables): Lexicon {
  const words = createMasks(tables.words)
  const stems = createMasks(tables.stems)
  return {
    listsOf(word) {
      let lists = words(hashWord(word))
      if (word.endsWith("'s")) lists |= words(hashWord(word.slice(0, -2)))
      return lists | stemLists(word, stems)
    },
    phraseLengths: createMasks(tables.phraseLengths),
    listsOfPhrase: createMasks(tables.phrases),
  }
}

const beginnings = new Uint32Array(64)

function stemLists(word: string, stems: (hash: number) => number): number {
  hashBeginnings(word, beginnings)
  let lists = 0
  for (let end = shortestStem; end <= Math.min(word.length, beginnings.length); end++)
    lists |= stems(beginnings[end - 1] ?? 0)
  return lists
}

function createMasks(byHash: ReadonlyMap<number, number>): (hash: number) => number {
  const table = createFeatureTable(Uint32Array.from(byHash.keys()))
  const masks = Int32Array.from(byHash.values())
  return (hash) => {
    const index = table.indexOf(hash)
    return index < 0 ? 0 : (masks[index] ?? 0)
  }
}

/** The hash of a phrase, from its last word back to its first, which is the order in which the reader sees them. */
export const hashPhrase = (words: readonly number[]): number =>
  words.reduceRight((hash, word) => hashNext(hash, word), 0) >>> 0
