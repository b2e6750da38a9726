/** Adds up, bucket by bucket, what a text says to each head. */
import { createFeatureTable } from './feature-table.ts'
import type { FeatureTable } from './feature-table.ts'
import { createLexicon } from './lexicon.ts'
import { heads } from './model.ts'
import type { Model, ModelHeader } from './model.ts'
import { createReader } from './reader.ts'
import type { Listener } from './reader.ts'
import { createVocabulary } from './vocabulary.ts'
import { createWeigh } from './weigh.ts'
import type { WeighedWord } from './weigh.ts'
import { createWordBook } from './word-book.ts'

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

export function createTally(model: Model): Tally {
  const layout = layOut(model.header)
  const rows: Float64Array[] = []
  let count = 0
  const table = createFeatureTable(model.features)
  const lexicon = createLexicon(model.lexicon)
  const vocabulary = createVocabulary(model.vocabulary)
  const weigh = createWeigh({ table, weights: model.weights, lexicon, vocabulary })
  const listener = createAdder(model, table, () => {
    const row = (rows[count] ??= new Float64Array(layout.length))
    row.fill(0)
    count += 1
    return row
  })
  const read = createReader({ lexicon, vocabulary, book: createWordBook(weigh), listener })
  return {
    layout,
    read(text) {
      count = 0
      read(text)
      return count
    },
    row: (bucket) => rows[bucket] ?? new Float64Array(layout.length),
  }
}

export function layOut({ lists, pairs }: Pick<ModelHeader, 'lists' | 'pairs'>): RowLayout {
  const words = heads.length * 2
  const firstPair = words + 2 + lists.length
  return { words, grams: words + 1, lists: words + 2, pairs: firstPair, length: firstPair + pairs.length }
}

/** Adds what the reader meets to the row of the bucket it is in. */
function createAdder(model: Model, table: FeatureTable, nextRow: () => Float64Array): Listener<WeighedWord> {
  const { lists, pairs } = model.header
  const { weights } = model
  const layout = layOut(model.header)
  const width = heads.length
  const firsts = Int32Array.from(pairs, ([first]) => 1 << lists.indexOf(first))
  const seconds = Int32Array.from(pairs, ([, second]) => 1 << lists.indexOf(second))
  let current: Float64Array = new Float64Array(layout.length)
  return {
    bucket() {
      current = nextRow()
    },
    word({ sums, grams }) {
      const row = current
      for (let at = 0; at < width * 2; at++) row[at] = (row[at] ?? 0) + (sums[at] ?? 0)
      row[layout.words] = (row[layout.words] ?? 0) + 1
      row[layout.grams] = (row[layout.grams] ?? 0) + grams
    },
    pair(hash) {
      const row = current
      row[layout.words] = (row[layout.words] ?? 0) + 1
      const feature = table.indexOf(hash)
      if (feature < 0) return
      for (let head = 0; head < width; head++) row[head] = (row[head] ?? 0) + (weights[feature * width + head] ?? 0)
    },
    lists(met, recent) {
      const row = current
      for (let rest = met; rest !== 0; rest &= rest - 1) {
        const list = layout.lists + 31 - Math.clz32(rest & -rest)
        row[list] = (row[list] ?? 0) + 1
      }
      if (recent === 0) return
      for (let pair = 0; pair < firsts.length; pair++) {
        const first = firsts[pair] ?? 0
        const second = seconds[pair] ?? 0
        if ((met & first) === 0 ? (met & second) === 0 || (recent & first) === 0 : (recent & second) === 0) continue
        row[layout.pairs + pair] = (row[layout.pairs + pair] ?? 0) + 1
      }
    },
  }
}
