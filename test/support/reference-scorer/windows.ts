/** Windows over the buckets of a text, and the score of a head for one window. */
import { damp } from '../../../src/adapters/classifiers/embedded/damp.ts'
import { heads } from '../../../src/adapters/classifiers/embedded/model.ts'
import type { HeadHeader } from '../../../src/adapters/classifiers/embedded/model.ts'
import type { FeatureRow, RowLayout, FeatureCounts } from './feature-counts.ts'

/** A range of buckets; `end` is exclusive. */
export type ScoreWindow = readonly [first: number, end: number]

/** Windows of `length` buckets that overlap by half; the last one ends with the text. */
export function windowsOf(buckets: number, length: number): readonly ScoreWindow[] {
  if (buckets <= length) return buckets === 0 ? [] : [[0, buckets]]
  const windows: ScoreWindow[] = []
  for (let first = 0; first + length < buckets; first += Math.max(1, length >> 1)) windows.push([first, first + length])
  windows.push([buckets - length, buckets])
  return windows
}

/** The sums of a window, and the positions of the lists and pairs that occur in it, `hitCount` of them. */
export type WindowSums = { readonly sum: FeatureRow; readonly hits: Uint8Array; hitCount: number }

/** Sums the rows from `first` to `end`. The result is valid until the next call. */
export function createSumRows(layout: RowLayout): (counts: FeatureCounts, window: ScoreWindow) => WindowSums {
  const sums: WindowSums = { sum: new Int32Array(layout.length), hits: new Uint8Array(layout.length), hitCount: 0 }
  const { sum, hits } = sums
  return (counts, window) => {
    sum.set(counts.row(window[0]))
    for (let bucket = window[0] + 1; bucket < window[1]; bucket++) {
      const row = counts.row(bucket)
      for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (row[at] ?? 0)
    }
    sums.hitCount = 0
    for (let at = layout.lists; at < sum.length; at++) if (sum[at] !== 0) hits[sums.hitCount++] = at
    return sums
  }
}

/** Penalty for a window without a word of the required lists, because character n-grams can add up to anything in code and logs. */
const withoutEvidence = 4

/** The score of a head for a window; `headIndex` is the index of the head. */
export function createHeadScore(
  header: HeadHeader,
  headIndex: number,
  layout: RowLayout,
): (sums: WindowSums) => number {
  const { bias, scale, evidence, lists } = header
  const hasHit = (sum: FeatureRow, group: readonly number[]): boolean =>
    group.some((list) => (sum[layout.lists + list] ?? 0) > 0)
  return ({ sum, hits, hitCount }) => {
    const words = Math.sqrt(Math.max(1, sum[layout.words] ?? 0))
    const grams = Math.sqrt(Math.max(1, sum[layout.grams] ?? 0))
    let score = bias + ((sum[headIndex] ?? 0) / words + (sum[heads.length + headIndex] ?? 0) / grams) * scale
    for (let index = 0; index < hitCount; index++) {
      const at = hits[index] ?? 0
      const weight = lists[at - layout.lists] ?? 0
      if (weight !== 0) score += weight * damp(sum[at] ?? 0)
    }
    for (const group of evidence) if (!hasHit(sum, group)) return score - withoutEvidence
    return score
  }
}

/**
 * Combines the scores of windows to one: the mean of their likelihoods, but at most one unit below the highest. A long harmless
 * text is not blocked for one unusual window, and a harmful passage is not diluted.
 */
export function gather(scores: ArrayLike<number>, count = scores.length): number {
  let highest = -Infinity
  for (let at = 0; at < count; at++) highest = Math.max(highest, scores[at] ?? 0)
  if (count === 1) return highest
  let sum = 0
  for (let at = 0; at < count; at++) sum += Math.exp((scores[at] ?? 0) - highest)
  return highest + Math.max(-1, Math.log(sum / count))
}
