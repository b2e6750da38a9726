import { createFeatureTable } from './feature-table.ts'
import { hashWord } from './hashing.ts'
import type { Vocabulary } from './unmask.ts'

/** The words a model knows, from their hashes, the most common first. */
export function createVocabulary(hashes: Uint32Array): Vocabulary {
  const table = createFeatureTable(hashes)
  return { rank: (word) => table.indexOf(hashWord(word)), size: hashes.length }
}
