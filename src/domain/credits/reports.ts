import type { Page, Paged } from '../identity/store.ts'
import type { Charge } from './charge.ts'

export const ledgerEntryKinds = ['grant', 'payment', 'usage'] as const

/** What callers see of the ledger: what came in, and what was used. Slices are the house's own business. */
export type LedgerEntry = {
  readonly id: string
  readonly atMs: number
  readonly kind: (typeof ledgerEntryKinds)[number]
  /** Positive for what came in, negative for what was used. */
  readonly micro: number
  readonly ref: string
  readonly note: string
  /** Of a use: its receipt. */
  readonly charge: Charge | null
}

export const usageGroups = ['project', 'api_key', 'model'] as const
export type UsageGroup = (typeof usageGroups)[number]

export type UsageQuery = {
  readonly organizationId: string
  readonly fromMs: number
  readonly toMs: number
  readonly bucketMs: number
  readonly groupBy: readonly UsageGroup[]
}

/** What was used in one stretch of time, by one group; null where it was not asked to tell these apart. */
export type UsageRow = {
  readonly startMs: number
  readonly projectId: string | null
  readonly keyId: string | null
  readonly model: string | null
  readonly requests: number
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly micro: number
}

/** The first row that does not fit with the others. */
export type BrokenRow = { readonly table: string; readonly id: string; readonly says: string }

export type LedgerVerification = {
  readonly organizations: number
  readonly entries: number
  readonly charges: number
  readonly slices: number
  readonly broken: BrokenRow | null
}

/** What can be asked of the ledger without moving anything. */
export type LedgerReports = {
  entries(organizationId: string, page: Page): Promise<Paged<LedgerEntry>>
  usage(query: UsageQuery): Promise<readonly UsageRow[]>
  /** Recomputes everything that is kept twice, and every receipt. */
  verify(): Promise<LedgerVerification>
}
