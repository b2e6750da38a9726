import { createFeatureTable } from './feature-table.ts'
import { hashWord } from './hashing.ts'
import type { Vocabulary } from './unmask.ts'

/** The vocabulary of a model, built from word hashes in the order of frequency. */
export function createVocabulary(hashes: Uint32Array): Vocabulary {
  const table = createFeatureTable(hashes)
  return { rank: (word) => table.indexOf(hashWord(word)), size: hashes.length }
}
