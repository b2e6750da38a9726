/**
 * Sexual writing about minors has no examples to learn from, and should have none. It is composed: sexual evidence in a
 * window, together with a cue of age around it.
 */
import type { ModelHeader } from './model.ts'
import type { Tally } from './tally.ts'
import { damp } from './windows.ts'
import type { Window } from './windows.ts'

type SexualWindow = {
  readonly window: Window
  /** How many buckets the text has. */
  readonly buckets: number
  /** The sums of the window. */
  readonly sum: Float64Array
  /** The sexual head's score of this window. */
  readonly sexual: number
}

/** Cues are looked for this many buckets to both sides of a window. */
const reach = 6
/** Without any cue the composition stays this far under its threshold. */
const withoutCue = 8
/** Beyond this, more sexual evidence says nothing more about age; a plain cue does. */
const mostEvidence = 4
const plainCue = 2

export function createMinorsScore(header: ModelHeader): (tally: Tally, window: SexualWindow) => number {
  const { besideCue } = header.minors
  const explicit = header.lists.indexOf('sexual-explicit')
  const plain = header.lists.indexOf('minor-strong')
  const weak = header.lists.indexOf('minor-weak')

  return (tally, { window: [first, end], buckets, sum, sexual }) => {
    const around = [Math.max(0, first - reach), Math.min(buckets, end + reach)] as const
    const plainCues = countAround(tally, around, plain)
    if (plainCues + countAround(tally, around, weak) === 0) return Math.min(-1, sexual - besideCue - withoutCue)
    // An explicit word is evidence enough, whatever the head makes of the rest.
    const isExplicit = (sum[tally.layout.lists + explicit] ?? 0) > 0
    const evidence = (isExplicit ? Math.max(sexual, besideCue) : sexual) - besideCue
    if (evidence < 0) return evidence
    return Math.min(evidence, mostEvidence) + (plainCues > 0 ? plainCue + damp(plainCues) : 0)
  }
}

/** Hits of a list in the buckets from `first` up to `end`. */
function countAround(tally: Tally, [first, end]: Window, list: number): number {
  let count = 0
  for (let bucket = first; bucket < end; bucket++) count += tally.row(bucket)[tally.layout.lists + list] ?? 0
  return count
}
