/** The contribution of a word to each head, computed once and then cached. */
import type { FeatureTable } from '../../../src/adapters/classifiers/embedded/feature-table.ts'
import { hashGrams, hashWord, maxGrams } from '../../../src/adapters/classifiers/embedded/hashing.ts'
import type { Lexicon } from '../../../scripts/classifier/reading/lexicon.ts'
import { heads } from '../../../src/adapters/classifiers/embedded/model.ts'
import type { Word } from '../../../scripts/classifier/reading/walk.ts'
import { unmask } from '../../../src/adapters/classifiers/embedded/unmask.ts'
import type { Vocabulary } from '../../../src/adapters/classifiers/embedded/unmask.ts'

/**
 * A word with its contribution to the row of its bucket: its weight per head, per head the sum of its character n-grams, a count of
 * one, and the number of its n-grams. Integers; they are scaled later.
 */
export type WeightedWord = Word & { readonly sums: readonly number[] }

export type WeighParts = {
  readonly table: FeatureTable
  readonly weights: Int8Array
  readonly lexicon: Lexicon
  readonly vocabulary: Vocabulary
}

export function createWeigh({ table, weights, lexicon, vocabulary }: WeighParts): (token: string) => WeightedWord {
  const width = heads.length
  const blank = Array.from({ length: width * 2 }, () => 0)
  const gramHashes = new Uint32Array(maxGrams)

  const add = (sums: number[], hash: number, from: number): void => {
    const feature = table.indexOf(hash)
    if (feature < 0) return
    for (let head = 0; head < width; head++) {
      sums[from + head] = (sums[from + head] ?? 0) + (weights[feature * width + head] ?? 0)
    }
  }
  return (token) => {
    const word = unmask(token, vocabulary)
    const hash = hashWord(word)
    const sums = blank.slice()
    add(sums, hash, 0)
    const grams = hashGrams(word, gramHashes)
    for (let at = 0; at < grams; at++) add(sums, gramHashes[at] ?? 0, width)
    sums.push(1, grams)
    return {
      hash: hash | 0,
      lists: lexicon.listsOf(word),
      phraseLengths: lexicon.phraseLengths(hash),
      countedIn: 0,
      sums,
    }
  }
}
