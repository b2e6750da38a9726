import { day, hour, startOf, week } from './kinds.ts'
import { readFrom } from './retention.ts'
import { endOf, type Period, type Segment } from './segments.ts'

/** A segment whose rows are added, or subtracted. */
export type SignedSegment = Segment & { readonly sign: 1 | -1 }

export type BucketCover = {
  /** What of the bucket is in the period, extended to whole steps of the shortest length that is stored at its ends. */
  readonly period: Segment
  readonly segments: readonly SignedSegment[]
}

type Bounds = Pick<Period, 'from' | 'to'>

type CoverOptions = {
  /** Coarsest first, down to hours. */
  readonly steps: readonly number[]
  readonly nowSeconds: number
  /** No step that starts before this time is read, because its sums may be removed. */
  readonly earliest?: number
  /** The first week that is stored. Days before it may be, because a week is removed before the last of its days. */
  readonly firstWeek?: number
}

/**
 * Covers what of one bucket is in a period with few steps. A day without its last hours is the whole day minus these hours, if
 * they are fewer than the others. Hours and days after now have no rows, so they cost nothing.
 */
export function coverBucket({ from, to }: Bounds, options: CoverOptions): BucketCover | undefined {
  const { steps, nowSeconds, earliest = 0, firstWeek = 0 } = options
  const lowest = Math.max(earliest, readFrom(day, nowSeconds))
  const shortestAt = (time: number): number => (time < readFrom(hour, nowSeconds) ? day : hour)
  const start = Math.max(from, lowest)
  const period = { step: shortestAt(start), from: startOf(start, shortestAt(start)), to: endOf(to, shortestAt(to - 1)) }
  if (period.from >= period.to) return undefined
  const finestFirst = steps.toReversed()
  return { period, segments: cheapestCover(period, finestFirst, { lowest, firstWeek, nowSeconds }) }
}

type Limits = { readonly lowest: number; readonly firstWeek: number; readonly nowSeconds: number }

/** Both ends are moved to a step of the next longer length, forward or back, whichever reads fewer steps in all. */
function cheapestCover(
  { from, to }: Bounds,
  [step = hour, ...longer]: readonly number[],
  limits: Limits,
): SignedSegment[] {
  const covers: SignedSegment[][] = [[{ step, from, to, sign: 1 }]]
  const [next] = longer
  if (next === undefined) return covers.flat()
  const lowest = next === week ? Math.max(limits.lowest, limits.firstWeek) : limits.lowest
  for (const start of [endOf(from, next), startOf(from, next)])
    for (const end of [startOf(to, next), endOf(to, next)])
      if (lowest <= start && start < end)
        covers.push([
          ...difference(step, from, start),
          ...cheapestCover({ from: start, to: end }, longer, limits),
          ...difference(step, end, to),
        ])
  return covers.reduce((best, cover) =>
    countSteps(cover, limits.nowSeconds) < countSteps(best, limits.nowSeconds) ? cover : best,
  )
}

/** What the sums until `to` have more than those until `from`. */
function difference(step: number, from: number, to: number): SignedSegment[] {
  if (from === to) return []
  return from < to ? [{ step, from, to, sign: 1 }] : [{ step, from: to, to: from, sign: -1 }]
}

/** Steps that have begun. Later ones have no rows. */
const countSteps = (segments: readonly SignedSegment[], nowSeconds: number): number =>
  segments.reduce(
    (sum, { step, from, to }) => sum + Math.max(0, Math.ceil((Math.min(to, nowSeconds) - from) / step)),
    0,
  )
