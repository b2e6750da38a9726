/**
 * Sexual writing about minors has no examples to learn from, and should have none. It is composed: sexual evidence in a
 * window, together with a cue of age around it.
 */
import type { ModelHeader } from './model.ts'
import type { Tally } from './tally.ts'
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

export function createMinorsScore(header: ModelHeader): (tally: Tally, window: SexualWindow) => number {
  const { besideCue } = header.minors
  const explicit = header.lists.indexOf('sexual-explicit')
  const cues = ['minor-strong', 'minor-weak'].map((list) => header.lists.indexOf(list))

  const hasCue = (tally: Tally, from: number, until: number): boolean => {
    for (let bucket = from; bucket < until; bucket++) {
      const row = tally.row(bucket)
      if (cues.some((cue) => (row[tally.layout.lists + cue] ?? 0) > 0)) return true
    }
    return false
  }
  return (tally, { window: [first, end], buckets, sum, sexual }) => {
    const isCued = hasCue(tally, Math.max(0, first - reach), Math.min(buckets, end + reach))
    if (!isCued) return sexual - besideCue - withoutCue
    // An explicit word is evidence enough, whatever the head makes of the rest.
    const isExplicit = (sum[tally.layout.lists + explicit] ?? 0) > 0
    return (isExplicit ? Math.max(sexual, besideCue) : sexual) - besideCue
  }
}
