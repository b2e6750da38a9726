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
/** Additional scores required: if there are only weak words or one repeated word; with words of medicine, education or law. */
const thin = 1
const protective = 2
/** Additional score required beside a word that only usually means a minor. */
const likelyOnly = 1
/** Sexual evidence above this does not raise the score further, because it says nothing about age. */
const mostEvidence = 4
const plainCue = 2
/** Words of family and youth are common in sexual writing about adults: with these alone the score stays below the threshold. */
const mostWithWeakCue = -0.5

export function createMinorsScore(header: ModelHeader): (counts: FeatureCounts, window: SexualWindow) => number {
  const { besideCue, farFromCue } = header.minors
  const listIndex = (list: string): number => header.lists.indexOf(list)
  const [explicit, clinical, suggestive] = [
    listIndex('sexual-explicit'),
    listIndex('sexual-clinical'),
    listIndex('sexual-suggestive'),
  ]
  const [plain, likely, weak] = [listIndex('minor-strong'), listIndex('minor-likely'), listIndex('minor-weak')]
  const protection = listIndex('protection')
  const explicitPairs = pairsOf(header, 'minor-strong').filter((pair) => header.pairs[pair]?.[0] === 'sexual-explicit')
  const likelyPairs = pairsOf(header, 'minor-likely')

  return (counts, { window, buckets, sum, sexual }) => {
    const count = (list: number): number => sum[counts.layout.lists + list] ?? 0
    const has = (pairs: readonly number[]): boolean => pairs.some((pair) => (sum[counts.layout.pairs + pair] ?? 0) > 0)
    const uncued = Math.min(-1, sexual - besideCue - withoutCue)
    const isExplicit = count(explicit) > 0
    if (!isExplicit && count(clinical) === 0 && count(suggestive) < 2) return uncued
    const around = [Math.max(0, window[0] - reach), Math.min(buckets, window[1] + reach)] as const
    const plainCues = countIn(counts, around, plain)
    if (plainCues + countIn(counts, around, likely) + countIn(counts, around, weak) === 0) return uncued
    const isThin = count(clinical) === 0 || maxInOneBucket(counts, window, [clinical, suggestive]) < 2
    const doubt = isExplicit ? 0 : count(protection) > 0 ? protective : isThin ? thin : 0
    const isBesidePlain = isInOneBucket(counts, window, [plain, [explicit, clinical, suggestive]])
    const isBesideLikely = has(likelyPairs)
    const beside = isBesidePlain ? besideCue + doubt : isBesideLikely ? besideCue + likelyOnly + doubt : farFromCue
    const needed = Math.min(beside, farFromCue)
    // An explicit word within a few words of a plain cue is sufficient evidence, whatever the score of the head.
    const evidence = (has(explicitPairs) ? Math.max(sexual, needed) : sexual) - needed
    if (plainCues === 0 && !isBesideLikely) return Math.min(evidence, mostWithWeakCue)
    if (evidence < 0) return evidence
    return Math.min(evidence, mostEvidence) + (plainCues > 0 ? plainCue + damp(plainCues) : 0)
  }
}

/** The pairs of a sexual list with this list: hits of both within a few words. */
const pairsOf = ({ pairs }: ModelHeader, list: string): readonly number[] =>
  pairs.flatMap(([first, second], index) => (first.startsWith('sexual-') && second === list ? [index] : []))

/** True if a bucket of the window has a hit of a list and of one of the others. */
function isInOneBucket(
  counts: FeatureCounts,
  [first, end]: ScoreWindow,
  [list, others]: readonly [number, readonly number[]],
): boolean {
  for (let bucket = first; bucket < end; bucket++) {
    const row = counts.row(bucket)
    const isHit = (index: number): boolean => (row[counts.layout.lists + index] ?? 0) > 0
    if (isHit(list) && others.some(isHit)) return true
  }
  return false
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
