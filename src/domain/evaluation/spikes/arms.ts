import { hourMinutes } from './spike.ts'

/** One side of the rollout of a policy: those it is enforced for, and those whose matches are only recorded. */
export type RolloutArm = {
  readonly side: 'enforced' | 'observed'
  /** Distinct callers: keys, and users that requests name. */
  readonly callers: number
  /** Of these, those with a request that matched. On the side `enforced` it was denied. */
  readonly matchedCallers: number
  readonly requests: number
  readonly matches: number
}

/** Callers are kept for an hour. */
export const armMinutes = hourMinutes

/** The exact upper bound of a share of which a sample found `found` of `of`, in basis points. */
export type UpperBoundBp = (found: number, of: number) => number

/** An arm with the share of its callers that matched, between its exact bounds at 95 % each. */
export type BoundedArm = RolloutArm & { readonly lowBp: number; readonly highBp: number }

export const boundedArm = (arm: RolloutArm, upperBoundBp: UpperBoundBp): BoundedArm => ({
  ...arm,
  // The share that did not match is at most this.
  lowBp: 10_000 - upperBoundBp(arm.callers - arm.matchedCallers, arm.callers),
  highBp: upperBoundBp(arm.matchedCallers, arm.callers),
})

/**
 * True if the sides differ by more than chance: more callers of the enforced side are denied than those of the other side match. The
 * rule is the same, so callers behave otherwise where it is enforced, for example by trying again.
 */
export const deniesMore = (arms: readonly BoundedArm[]): boolean => {
  const [enforced, observed] = (['enforced', 'observed'] as const).map((side) => arms.find((arm) => arm.side === side))
  return enforced !== undefined && observed !== undefined && observed.callers > 0 && enforced.lowBp > observed.highBp
}
