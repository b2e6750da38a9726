import type { Backtest, PolicyChanges } from './fix-queries.ts'

/** The highest threshold that a policy can have, in basis points. */
const highestThreshold = 9_999

/** The lowest threshold that lets a request with this score pass; undefined if none does. */
export const passingThreshold = (score: number | null): number | undefined =>
  score === null || score >= highestThreshold ? undefined : score + 1

export const isSameChange = (one: PolicyChanges | undefined, other: PolicyChanges): boolean =>
  one?.rule === other.rule && one?.match_threshold_basis_points === other.match_threshold_basis_points

/** How a change would have decided requests that the policy denied, and others. */
export type ReplayEffect = {
  readonly replayed: number
  readonly deniedByPolicy: number
  readonly letThrough: number
  readonly newlyDenied: number
  readonly examples: readonly { readonly requestId: string; readonly isLetThrough: boolean }[]
}

export function effectOf(result: NonNullable<Backtest['result']>): ReplayEffect {
  const { coverage, scores, newly_allowed: letThrough, newly_blocked: newlyDenied, example_requests: examples } = result
  return {
    replayed: coverage.with_text,
    deniedByPolicy: scores.reduce((sum, { blocked_by_policy: denied }) => sum + denied, 0),
    letThrough,
    newlyDenied,
    examples: examples.flatMap(({ request_id: requestId, change }) =>
      requestId === null || (change !== 'newly_allowed' && change !== 'newly_blocked')
        ? []
        : [{ requestId, isLetThrough: change === 'newly_allowed' }],
    ),
  }
}
