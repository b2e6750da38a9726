/** How well a judge agrees with people, and whether it still does. */
import { upperBoundBp } from '../gate/bound.ts'

/** What people expect, and what the judge says. */
export type Confusion = {
  /** Expected and found. */
  readonly matches: number
  /** Expected and not found. */
  readonly missed: number
  /** Found and not expected. */
  readonly falseAlarms: number
  /** Neither. */
  readonly passes: number
}

/** A share with its exact bounds, each at a confidence of 95 %, in basis points. Without a sample the bounds say nothing. */
export type BoundedShare = {
  readonly found: number
  readonly of: number
  readonly share_bp: number
  readonly at_least_bp: number
  readonly at_most_bp: number
}

export const boundedShare = (found: number, of: number): BoundedShare => ({
  found,
  of,
  share_bp: of === 0 ? 0 : basisPoints(found / of),
  at_least_bp: of === 0 ? 0 : 10_000 - upperBoundBp(of - found, of),
  at_most_bp: upperBoundBp(found, of),
})

/**
 * Cohen's kappa: the agreement beyond the one that chance gives for how often each says "match". 1 is full agreement, 0 is chance.
 * Null if both always say the same, because then chance explains everything.
 */
export function kappaOf({ matches, missed, falseAlarms, passes }: Confusion): number | null {
  const all = matches + missed + falseAlarms + passes
  if (all === 0) return null
  const agreement = (matches + passes) / all
  const byChance =
    ((matches + missed) * (matches + falseAlarms) + (falseAlarms + passes) * (missed + passes)) / (all * all)
  return byChance === 1 ? null : rounded((agreement - byChance) / (1 - byChance))
}

/** A bin without any score counts as this share, because the logarithm of 0 has no value. */
const leastShare = 0.001

/**
 * The population stability index of two histograms with the same bins: 0 if they have the same shape. Below 0.1 nothing has moved, above
 * 0.2 the scores are spread differently.
 */
export function psiOf(before: readonly number[], after: readonly number[]): number {
  const sharesOf = (bins: readonly number[]): number[] => {
    const all = bins.reduce((sum, count) => sum + count, 0)
    return bins.map((count) => Math.max(leastShare, all === 0 ? 0 : count / all))
  }
  const expected = sharesOf(before)
  const found = sharesOf(after)
  return rounded(
    expected.reduce((sum, share, at) => {
      const now = found[at] ?? leastShare
      return sum + (now - share) * Math.log(now / share)
    }, 0),
  )
}

export const basisPoints = (share: number): number => Math.round(share * 10_000)

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000
