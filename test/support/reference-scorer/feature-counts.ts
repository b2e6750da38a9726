/** Sums up, per bucket, the weights of the words of a text for each head. */
import type { FeatureTable } from '../../../src/adapters/classifiers/embedded/feature-table.ts'
import type { Lexicon } from '../../../scripts/classifier/reading/lexicon.ts'
import { heads } from '../../../src/adapters/classifiers/embedded/model.ts'
import type { ClassifierModel, ModelHeader } from '../../../src/adapters/classifiers/embedded/model.ts'
import { createWalk, type WalkListener, type WordWalk } from '../../../scripts/classifier/reading/walk.ts'
import type { WeightedWord } from './weigh.ts'

/** The layout of a bucket's row: per head the sums of words and of character n-grams, then the counts. */
export type RowLayout = {
  readonly words: number
  readonly grams: number
  readonly lists: number
  readonly pairs: number
  readonly length: number
}

/** Weights and counts are integers, and so are their sums. */
export type FeatureRow = Int32Array

export type FeatureCounts = WordWalk<WeightedWord> & {
  readonly layout: RowLayout
  /** How many buckets are filled so far. */
  buckets(): number
  row(bucket: number): FeatureRow
}

export type FeatureCountsParts = {
  readonly model: ClassifierModel
  readonly table: FeatureTable
  readonly lexicon: Lexicon
}

export function createFeatureCounts({ model, table, lexicon }: FeatureCountsParts): FeatureCounts {
  const layout = layOut(model.header)
  const rows: FeatureRow[] = []
  let count = 0
  const listener = createAdder(model, table, () => {
    const row = (rows[count] ??= new Int32Array(layout.length))
    row.fill(0)
    count += 1
    return row
  })
  const walk = createWalk(lexicon, listener)
  return {
    layout,
    begin() {
      count = 0
      walk.begin()
    },
    visit: walk.visit,
    buckets: () => count,
    row: (bucket) => rows[bucket] ?? new Int32Array(layout.length),
  }
}

export function layOut({ lists, pairs }: Pick<ModelHeader, 'lists' | 'pairs'>): RowLayout {
  const words = heads.length * 2
  const firstPair = words + 2 + lists.length
  return { words, grams: words + 1, lists: words + 2, pairs: firstPair, length: firstPair + pairs.length }
}

/** Adds each visited word to the row of the current bucket. */
function createAdder(
  { header, weights }: ClassifierModel,
  table: FeatureTable,
  nextRow: () => FeatureRow,
): WalkListener<WeightedWord> {
  const { lists, pairs } = header
  const layout = layOut(header)
  const width = heads.length
  const firsts = Int32Array.from(pairs, ([first]) => 1 << lists.indexOf(first))
  const seconds = Int32Array.from(pairs, ([, second]) => 1 << lists.indexOf(second))
  let current: FeatureRow = new Int32Array(layout.length)
  return {
    bucket() {
      current = nextRow()
    },
    word({ sums }) {
      const row = current
      for (let at = 0; at < sums.length; at++) row[at] = (row[at] ?? 0) + (sums[at] ?? 0)
    },
    pair(hash) {
      const row = current
      row[layout.words] = (row[layout.words] ?? 0) + 1
      const feature = table.indexOf(hash)
      if (feature < 0) return
      for (let head = 0; head < width; head++) row[head] = (row[head] ?? 0) + (weights[feature * width + head] ?? 0)
    },
    lists(hits, recent) {
      const row = current
      for (let rest = hits; rest !== 0; rest &= rest - 1) {
        const list = layout.lists + 31 - Math.clz32(rest & -rest)
        row[list] = (row[list] ?? 0) + 1
      }
      if (recent === 0) return
      for (let pair = 0; pair < firsts.length; pair++) {
        const first = firsts[pair] ?? 0
        const second = seconds[pair] ?? 0
        if ((hits & first) === 0 ? (hits & second) === 0 || (recent & first) === 0 : (recent & second) === 0) continue
        row[layout.pairs + pair] = (row[layout.pairs + pair] ?? 0) + 1
      }
    },
  }
}
