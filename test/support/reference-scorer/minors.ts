/**
 * Sexual content about minors has no training examples, and should have none. The category is composed instead: sexual evidence in
 * a window, together with evidence of a minor's age near it.
 */
import type { ModelHeader } from '../../../src/adapters/classifiers/embedded/model.ts'
import type { FeatureRow, FeatureCounts } from './feature-counts.ts'
import { damp } from '../../../src/adapters/classifiers/embedded/damp.ts'
import type { ScoreWindow } from './windows.ts'

type SexualWindow = {
  readonly window: ScoreWindow
  /** Number of buckets of the text. */
  readonly buckets: number
  /** The sums of the window. */
  readonly sum: FeatureRow
  /** The score of the sexual head for this window. */
  readonly sexual: number
}

/** Evidence of age is searched this many buckets to both sides of a window, because an age is stated once. */
const reach = 6
/** Without evidence of age, or without a sexual word, the score stays this far below the threshold. */
const withoutCue = 8
/** Additional score required if there are only weak words, one repeated word, or words of medicine, education or law nearby. */
const doubt = 1.56
/** Sexual evidence above this does not raise the score further, because it says nothing about age. */
const mostEvidence = 4
const plainCue = 2

export function createMinorsScore(header: ModelHeader): (counts: FeatureCounts, window: SexualWindow) => number {
  const { besideCue } = header.minors
  const listIndex = (list: string): number => header.lists.indexOf(list)
  const [explicit, clinical, suggestive] = [
    listIndex('sexual-explicit'),
    listIndex('sexual-clinical'),
    listIndex('sexual-suggestive'),
  ]
  const [plain, weak, protection] = [listIndex('minor-strong'), listIndex('minor-weak'), listIndex('protection')]

  return (counts, { window, buckets, sum, sexual }) => {
    const count = (list: number): number => sum[counts.layout.lists + list] ?? 0
    const isExplicit = count(explicit) > 0
    const isSexual = isExplicit || count(clinical) > 0 || count(suggestive) > 1
    if (!isSexual) return Math.min(-1, sexual - besideCue - withoutCue)
    const around = [Math.max(0, window[0] - reach), Math.min(buckets, window[1] + reach)] as const
    const plainCues = countIn(counts, around, plain)
    const isCued = plainCues > 0 || countIn(counts, around, weak) > 0
    if (!isCued) return Math.min(-1, sexual - besideCue - withoutCue)
    const isThin = count(clinical) === 0 || maxInOneBucket(counts, window, [clinical, suggestive]) < 2
    const isDoubtful = !isExplicit && (isThin || count(protection) > 0)
    const needed = isDoubtful ? besideCue + doubt : besideCue
    // An explicit word is sufficient evidence, whatever the score of the head.
    const evidence = (isExplicit ? Math.max(sexual, needed) : sexual) - needed
    if (evidence < 0) return evidence
    return Math.min(evidence, mostEvidence) + (plainCues > 0 ? plainCue + damp(plainCues) : 0)
  }
}

/** Hits of a list in the buckets from `first` to `end`. */
function countIn(counts: FeatureCounts, [first, end]: ScoreWindow, list: number): number {
  let count = 0
  for (let bucket = first; bucket < end; bucket++) count += counts.row(bucket)[counts.layout.lists + list] ?? 0
  return count
}

/** The most hits of these lists in one bucket of the window. A bucket counts a word once, so a column `sex` counts once. */
function maxInOneBucket(counts: FeatureCounts, [first, end]: ScoreWindow, lists: readonly number[]): number {
  let most = 0
  for (let bucket = first; bucket < end; bucket++) {
    const row = counts.row(bucket)
    most = Math.max(
      most,
      lists.reduce((sum, list) => sum + (row[counts.layout.lists + list] ?? 0), 0),
    )
  }
  return most
}
