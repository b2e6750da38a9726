/** Converts texts to rows of a sparse matrix. */
import { hashGrams, hashWord, maxGrams } from '../../src/adapters/classifiers/embedded/hashing.ts'
import { createLexicon } from './reading/lexicon.ts'
import { createReader } from './reading/reader.ts'
import type { Word } from './reading/walk.ts'
import { createVocabulary, unmask } from '../../src/adapters/classifiers/embedded/unmask.ts'
import { damp } from '../../src/adapters/classifiers/embedded/damp.ts'
import { normalise } from '../../src/domain/scan/normalise/normalise.ts'
import { listPairs } from './heads.ts'
import type { CompiledLexicon } from './lexicon-files.ts'

/** The learnt features come first, then one column per list, then one per pair of lists. */
export type Matrix = {
  readonly rows: number
  readonly columns: number
  readonly starts: Uint32Array
  readonly at: Uint32Array
  readonly values: Float32Array
}

/** The features of one text by hash, and its hits of lists and pairs. */
export type Reading = {
  readonly words: ReadonlyMap<number, number>
  readonly grams: ReadonlyMap<number, number>
  readonly wordCount: number
  readonly gramCount: number
  readonly lists: Float64Array
}

type GramWord = Word & { readonly grams: Uint32Array }

/** Creates a reader whose texts share the facts of words. */
export function createTextReader(compiled: CompiledLexicon, vocabularyHashes: Uint32Array): (text: string) => Reading {
  const lexicon = createLexicon(compiled.tables)
  const vocabulary = createVocabulary(vocabularyHashes)
  const { lists } = compiled
  const pairMasks = listPairs.map(([first, second]) => [1 << lists.indexOf(first), 1 << lists.indexOf(second)] as const)
  let words = new Map<number, number>()
  let grams = new Map<number, number>()
  let counts = new Float64Array(lists.length + listPairs.length)
  let wordCount = 0
  let gramCount = 0

  const listener = {
    bucket(): void {},
    word(word: GramWord): void {
      countUp(words, word.hash)
      for (const gram of word.grams) countUp(grams, gram)
      wordCount += 1
      gramCount += word.grams.length
    },
    pair(hash: number): void {
      countUp(words, hash >>> 0)
      wordCount += 1
    },
    lists(hits: number, recent: number): void {
      for (const [index] of lists.entries()) if ((hits >> index) & 1) counts[index] = (counts[index] ?? 0) + 1
      for (const [index, [first, second]] of pairMasks.entries()) {
        if (((hits & first) === 0 || (recent & second) === 0) && ((hits & second) === 0 || (recent & first) === 0))
          continue
        counts[lists.length + index] = (counts[lists.length + index] ?? 0) + 1
      }
    },
  }
  const gramHashes = new Uint32Array(maxGrams)
  const factsOf = (token: string): GramWord => {
    const word = unmask(token, vocabulary)
    const hash = hashWord(word)
    return {
      hash,
      lists: lexicon.listsOf(word),
      phraseLengths: lexicon.phraseLengths(hash),
      countedIn: 0,
      grams: gramHashes.slice(0, hashGrams(word, gramHashes)),
    }
  }
  const read = createReader({ lexicon, vocabulary, factsOf, listener })
  return (text) => {
    words = new Map()
    grams = new Map()
    counts = new Float64Array(lists.length + listPairs.length)
    wordCount = 0
    gramCount = 0
    read(normalise(text))
    return { words, grams, wordCount, gramCount, lists: counts }
  }
}

function countUp(counts: Map<number, number>, hash: number): void {
  counts.set(hash, (counts.get(hash) ?? 0) + 1)
}

/** Features that occur in at least `fewest` texts, ascending by hash. */
export function chooseFeatures(readings: readonly Reading[], fewest: number): Uint32Array {
  const texts = new Map<number, number>()
  for (const { words, grams } of readings)
    for (const counts of [words, grams]) for (const hash of counts.keys()) countUp(texts, hash)
  return Uint32Array.from([...texts].filter(([, count]) => count >= fewest).map(([hash]) => hash)).sort()
}

export function buildMatrix(readings: readonly Reading[], features: Uint32Array): Matrix {
  const columnByHash = new Map<number, number>()
  for (const [column, hash] of features.entries()) columnByHash.set(hash, column)
  const lists = readings[0]?.lists.length ?? 0
  const capacity = readings.reduce((sum, { words, grams }) => sum + words.size + grams.size + lists, 0)
  const starts = new Uint32Array(readings.length + 1)
  const at = new Uint32Array(capacity)
  const values = new Float32Array(capacity)
  let next = 0
  const put = (column: number, value: number): void => {
    at[next] = column
    values[next] = value
    next += 1
  }
  const putAll = (counts: ReadonlyMap<number, number>, total: number): void => {
    for (const [hash, count] of counts) {
      const column = columnByHash.get(hash)
      if (column !== undefined) put(column, count / Math.sqrt(Math.max(1, total)))
    }
  }
  for (const [row, reading] of readings.entries()) {
    putAll(reading.words, reading.wordCount)
    putAll(reading.grams, reading.gramCount)
    for (const [index, count] of reading.lists.entries()) if (count > 0) put(features.length + index, damp(count))
    starts[row + 1] = next
  }
  return {
    rows: readings.length,
    columns: features.length + lists,
    starts,
    at: at.slice(0, next),
    values: values.slice(0, next),
  }
}
