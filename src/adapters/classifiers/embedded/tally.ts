/** Adds up, bucket by bucket, what a text says to each head. */
import { createFeatureTable } from './feature-table.ts'
import { hashGrams, hashWord, mostGrams } from './hashing.ts'
import { createLexicon } from './lexicon.ts'
import { heads } from './model.ts'
import type { Model, ModelHeader } from './model.ts'
import { createReader } from './reader.ts'
import type { Word } from './reader.ts'
import { unmask } from './unmask.ts'
import { createVocabulary } from './vocabulary.ts'
import { createWordBook } from './word-book.ts'

/** A word with what it adds to each head: its own weight, then the sum of its character runs. */
type WeighedWord = Word & { readonly sums: readonly number[]; readonly grams: number }

/** Where the sums of a bucket stand in its row: per head those of words and of character runs, then the counts. */
export type RowLayout = {
  readonly words: number
  readonly grams: number
  readonly lists: number
  readonly pairs: number
  readonly length: number
}

export type Tally = {
  readonly layout: RowLayout
  /** Reads a text in its normal form; answers how many buckets it filled. */
  read(text: string): number
  /** The row of a bucket of the text read last. */
  row(bucket: number): Float64Array
}

const width = heads.length

export function createTally(model: Model): Tally {
  const { lists, pairs } = model.header
  const layout = layOut(lists.length, pairs.length)
  const firsts = Int32Array.from(pairs, ([first]) => 1 << lists.indexOf(first))
  const seconds = Int32Array.from(pairs, ([, second]) => 1 << lists.indexOf(second))
  const table = createFeatureTable(model.features)
  const { weights } = model
  const rows: Float64Array[] = []
  let count = 0
  let row: Float64Array = new Float64Array(layout.length)

  const listener = {
    bucket(): void {
      row = rows[count] ??= new Float64Array(layout.length)
      row.fill(0)
      count += 1
    },
    word(word: WeighedWord): void {
      const { sums } = word
      for (let at = 0; at < width * 2; at++) row[at] = (row[at] ?? 0) + (sums[at] ?? 0)
      row[layout.words] = (row[layout.words] ?? 0) + 1
      row[layout.grams] = (row[layout.grams] ?? 0) + word.grams
    },
    pair(hash: number): void {
      row[layout.words] = (row[layout.words] ?? 0) + 1
      const feature = table.indexOf(hash)
      if (feature < 0) return
      for (let head = 0; head < width; head++) row[head] = (row[head] ?? 0) + (weights[feature * width + head] ?? 0)
    },
    lists(met: number, recent: number): void {
      for (let rest = met; rest !== 0; rest &= rest - 1) {
        const at = layout.lists + 31 - Math.clz32(rest & -rest)
        row[at] = (row[at] ?? 0) + 1
      }
      if (recent === 0) return
      for (let pair = 0; pair < firsts.length; pair++) {
        const first = firsts[pair] ?? 0
        const second = seconds[pair] ?? 0
        const isMet = (met & first && recent & second) || (met & second && recent & first)
        if (isMet) row[layout.pairs + pair] = (row[layout.pairs + pair] ?? 0) + 1
      }
    },
  }

  const lexicon = createLexicon(model.lexicon)
  const vocabulary = createVocabulary(model.vocabulary)
  const addFeature = (sums: number[], hash: number, from: number): void => {
    const feature = table.indexOf(hash)
    if (feature < 0) return
    for (let head = 0; head < width; head++) {
      sums[from + head] = (sums[from + head] ?? 0) + (weights[feature * width + head] ?? 0)
    }
  }
  const gramHashes = new Uint32Array(mostGrams)
  const weigh = (token: string): WeighedWord => {
    const word = unmask(token, vocabulary)
    const hash = hashWord(word)
    const sums = new Array<number>(width * 2).fill(0)
    addFeature(sums, hash, 0)
    const grams = hashGrams(word, gramHashes)
    for (let at = 0; at < grams; at++) addFeature(sums, gramHashes[at] ?? 0, width)
    const phraseLengths = lexicon.phraseLengths(hash)
    return { hash, lists: lexicon.listsOf(word), phraseLengths, countedIn: 0, sums, grams }
  }
  const read = createReader({ lexicon, vocabulary, book: createWordBook(weigh), listener })
  return {
    layout,
    read(text) {
      count = 0
      read(text)
      return count
    },
    row: (bucket) => rows[bucket] ?? row,
  }
}

/** How many sums a row holds. */
export const rowLength = ({ lists, pairs }: ModelHeader): number => layOut(lists.length, pairs.length).length

function layOut(lists: number, pairs: number): RowLayout {
  const words = width * 2
  return { words, grams: words + 1, lists: words + 2, pairs: words + 2 + lists, length: words + 2 + lists + pairs }
}
