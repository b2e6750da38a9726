import type { Limits } from './queries.ts'

export type ScopeLimits = Limits['scopes']['key']
type Limit = { readonly limit: number; readonly remaining: number }

export const metrics = ['rpm', 'rpd', 'tpm', 'tpd', 'concurrent'] as const
type Metric = (typeof metrics)[number]

export type Closest = Limit & { readonly metric: Metric; readonly share: number }

export const shareOf = ({ limit, remaining }: Limit): number => (limit === 0 ? 0 : (limit - remaining) / limit)

const almost = 0.8

export function toneOfShare(share: number): 'deny' | 'warning' | undefined {
  if (share >= 1) return 'deny'
  return share >= almost ? 'warning' : undefined
}

/** The limit of a scope of which the largest share is used. */
export function closestOf(limits: ScopeLimits): Closest | undefined {
  return metrics
    .flatMap((metric) => {
      const limit = limits[metric]
      return limit === null ? [] : [{ limit: limit.limit, remaining: limit.remaining, metric, share: shareOf(limit) }]
    })
    .toSorted((left, right) => right.share - left.share)[0]
}
