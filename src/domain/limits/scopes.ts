/** The scopes of limits, nearest first. Every request counts in all three. */
export const limitScopes = ['key', 'project', 'organization'] as const
export type LimitScope = (typeof limitScopes)[number]
export type PerScope<T> = Readonly<Record<LimitScope, T>>

/** Requests and tokens, per minute and per day. */
export const windowMetrics = ['rpm', 'rpd', 'tpm', 'tpd'] as const
export type WindowMetric = (typeof windowMetrics)[number]

export const metrics = [...windowMetrics, 'concurrent'] as const
export type Metric = (typeof metrics)[number]

export const isMetric = (name: string): name is Metric => metrics.some((metric) => metric === name)

/** The limits of one scope, whole numbers. 0 means no limit. */
export type ScopeLimits = Readonly<Record<Metric, number>>
export type Limits = PerScope<ScopeLimits>

/** For a scope without limits, such as the project in the administration API. */
export const unlimited: ScopeLimits = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: 0 }

/** One node's share of the limits when `nodes` nodes count separately. The sum never exceeds the limit, unless a share would be below 1. */
export function shareOf(limits: Limits, nodes: number): Limits {
  const divide = (limit: number): number => (limit === 0 ? 0 : Math.max(1, Math.floor(limit / nodes)))
  const share = ({ rpm, rpd, tpm, tpd, concurrent }: ScopeLimits): ScopeLimits => ({
    rpm: divide(rpm),
    rpd: divide(rpd),
    tpm: divide(tpm),
    tpd: divide(tpd),
    concurrent: divide(concurrent),
  })
  return { key: share(limits.key), project: share(limits.project), organization: share(limits.organization) }
}
