import type { Limits, PerScope, ScopeLimits } from './scopes.ts'

export const tiers = ['free', 'tier_1', 'tier_2', 'tier_3', 'tier_4', 'tier_5'] as const
export type Tier = (typeof tiers)[number]

/** One row of the table: request and token values per API key, tokens per day of the organization. */
export type TierRow = {
  readonly rpm: number
  readonly tpm: number
  readonly rpd: number
  readonly tpd: number
  readonly concurrent: PerScope<number>
}
export type TierTable = Readonly<Record<Tier, TierRow>>

const million = 1_000_000
const billion = 1_000_000_000
const concurrent = (key: number, project: number, organization: number) => ({ key, project, organization })

export const tierTable: TierTable = {
  free: { rpm: 60, tpm: 1 * million, rpd: 10_000, tpd: 1 * billion, concurrent: concurrent(4, 6, 8) },
  tier_1: { rpm: 120, tpm: 2 * million, rpd: 15_000, tpd: 2 * billion, concurrent: concurrent(8, 10, 12) },
  tier_2: { rpm: 300, tpm: 4 * million, rpd: 25_000, tpd: 5 * billion, concurrent: concurrent(12, 14, 16) },
  tier_3: { rpm: 500, tpm: 6 * million, rpd: 50_000, tpd: 10 * billion, concurrent: concurrent(16, 16, 16) },
  tier_4: { rpm: 700, tpm: 8 * million, rpd: 75_000, tpd: 20 * billion, concurrent: concurrent(32, 32, 32) },
  tier_5: { rpm: 900, tpm: 10 * million, rpd: 100_000, tpd: 50 * billion, concurrent: concurrent(32, 32, 32) },
}

const tierOfPlan: ReadonlyMap<string, Tier> = new Map([
  ['free', 'free'],
  ['developer', 'tier_1'],
  ['growth', 'tier_2'],
  ['scale', 'tier_3'],
])

export const plans: readonly string[] = [...tierOfPlan.keys()]

export const isPlan = (word: string): boolean => tierOfPlan.has(word)

/** What an organization must have paid in total, highest tier first. */
const spendTiers: readonly (readonly [paidUsd: number, tier: Tier])[] = [
  [5000, 'tier_5'],
  [1000, 'tier_4'],
  [200, 'tier_3'],
  [50, 'tier_2'],
  [20, 'tier_1'],
]

export type Account = { readonly plan: string; readonly lifetimePaidMicroUsd: number }

/** The higher of the plan's tier and the tier reached by payments. An unknown plan counts as free. */
export function tierOf({ plan, lifetimePaidMicroUsd }: Account): Tier {
  const byPlan = tierOfPlan.get(plan.toLowerCase()) ?? 'free'
  const bySpend = spendTiers.find(([paidUsd]) => lifetimePaidMicroUsd >= paidUsd * million)?.[1] ?? 'free'
  return tiers.indexOf(byPlan) > tiers.indexOf(bySpend) ? byPlan : bySpend
}

/** Values set for one organization, project or key instead of those of its tier. 0 removes a limit. */
export type LimitOverrides = Readonly<Partial<PerScope<Partial<ScopeLimits>>>>

/** The limits of the three scopes: the tier's row, with the overrides applied. */
export function limitsOf(row: TierRow, overrides: LimitOverrides = {}): Limits {
  return {
    key: { ...multiple(row, 1), tpd: 0, concurrent: row.concurrent.key, ...overrides.key },
    project: { ...multiple(row, 1.5), tpd: 0, concurrent: row.concurrent.project, ...overrides.project },
    organization: {
      ...multiple(row, 2),
      tpd: row.tpd,
      concurrent: row.concurrent.organization,
      ...overrides.organization,
    },
  }
}

const multiple = ({ rpm, rpd, tpm }: TierRow, factor: number) => ({
  rpm: Math.floor(rpm * factor),
  rpd: Math.floor(rpd * factor),
  tpm: Math.floor(tpm * factor),
})

export type TierOverrides = Readonly<Partial<Record<Tier, TierRowOverride>>>
export type TierRowOverride = Partial<Omit<TierRow, 'concurrent'>> & {
  readonly concurrent?: Partial<PerScope<number>>
}

/** The tier table with the overrides of the configuration applied. */
export function withOverrides(table: TierTable, overrides: TierOverrides): TierTable {
  const row = (tier: Tier): TierRow => {
    const { concurrent: slots, ...values } = overrides[tier] ?? {}
    return { ...table[tier], ...values, concurrent: { ...table[tier].concurrent, ...slots } }
  }
  return {
    free: row('free'),
    tier_1: row('tier_1'),
    tier_2: row('tier_2'),
    tier_3: row('tier_3'),
    tier_4: row('tier_4'),
    tier_5: row('tier_5'),
  }
}
