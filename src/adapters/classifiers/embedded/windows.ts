/** Windows over the buckets of a text, and what a head says to one of them. */
import { heads } from './model.ts'
import type { HeadHeader } from './model.ts'
import type { Row, RowLayout, Tally } from './tally.ts'

/** Some buckets in a row, `end` not included. */
export type Window = readonly [first: number, end: number]

/** Windows of `length` buckets that overlap by half; the last one ends with the text. */
export function windowsOf(buckets: number, length: number): readonly Window[] {
  if (buckets <= length) return buckets === 0 ? [] : [[0, buckets]]
  const windows: Window[] = []
  for (let first = 0; first + length < buckets; first += Math.max(1, length >> 1)) windows.push([first, first + length])
  windows.push([buckets - length, buckets])
  return windows
}

/** Adds up the rows of a tally from `first` up to `end`; what it answers holds until it is asked again. */
export function createSumRows(layout: RowLayout): (tally: Tally, window: Window) => WindowSums {
  const sum = new Int32Array(layout.length)
  const met: number[] = []
  return (tally, [first, end]) => {
    sum.set(tally.row(first))
    for (let bucket = first + 1; bucket < end; bucket++) {
      const row = tally.row(bucket)
      for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] ?? 0) + (row[at] ?? 0)
    }
    met.length = 0
    for (let at = layout.lists; at < sum.length; at++) if (sum[at] !== 0) met.push(at)
    return { sum, met }
  }
}

const damped = Float64Array.from({ length: 64 }, (_, count) => Math.log1p(count) / 2)

/** How hits of a list grow on a head: the tenth says less than the second. */
export const damp = (count: number): number => damped[count] ?? Math.log1p(count) / 2

/** Characters alone may add up to anything in code and logs. A verdict needs a word that can be named. */
const withoutEvidence = 4

/** The sums of a window, and which lists and pairs were met in it, by their places there. */
export type WindowSums = { readonly sum: Row; readonly met: readonly number[] }

/** What a head says to the sums of a window; `place` is where it stands among the heads. */
export function createHeadScore(header: HeadHeader, place: number, layout: RowLayout): (sums: WindowSums) => number {
  const { bias, scale, evidence, lists } = header
  const isMet = (sum: Row, group: readonly number[]): boolean =>
    group.some((list) => (sum[layout.lists + list] ?? 0) > 0)
  return ({ sum, met }) => {
    const words = Math.sqrt(Math.max(1, sum[layout.words] ?? 0))
    const grams = Math.sqrt(Math.max(1, sum[layout.grams] ?? 0))
    let score = bias + ((sum[place] ?? 0) / words + (sum[heads.length + place] ?? 0) / grams) * scale
    for (const at of met) {
      const weight = lists[at - layout.lists] ?? 0
      if (weight !== 0) score += weight * damp(sum[at] ?? 0)
    }
    for (const group of evidence) if (!isMet(sum, group)) return score - withoutEvidence
    return score
  }
}

/**
 * One score for a text from those of its windows: their mean as likelihoods, but never further than one unit under the
 * highest. A long harmless text is not blocked for one odd window, and a harmful passage does not drown in it.
 */
export function gather(scores: readonly number[]): number {
  const highest = Math.max(...scores)
  let sum = 0
  for (const score of scores) sum += Math.exp(score - highest)
  return highest + Math.max(-1, Math.log(sum / scores.length))
}
