import { Fault } from '../../base/fault.ts'
import type { Page, Paged } from '../identity/store.ts'
import type { Charge } from './charge.ts'

export const ledgerEntryKinds = ['grant', 'payment', 'correction', 'usage'] as const

/** A ledger entry as callers see it: a grant, a payment, a correction of them or a usage. Slices are internal and not listed. */
export type LedgerEntry = {
  readonly id: string
  readonly atMs: number
  readonly kind: (typeof ledgerEntryKinds)[number]
  /** Positive for what came in, negative for what was used or taken back. */
  readonly micro: number
  readonly ref: string
  readonly note: string
  /** The receipt of a usage. */
  readonly charge: Charge | null
}

/** A page of entries to which all given conditions apply. A project or a request selects its usage. */
export type LedgerPage = Page & {
  readonly kind?: (typeof ledgerEntryKinds)[number]
  readonly projectId?: string
  readonly requestId?: string
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
}

export const usageGroups = ['project', 'api_key', 'model', 'user'] as const
export type UsageGroup = (typeof usageGroups)[number]

export type UsageQuery = {
  readonly organizationId: string
  readonly fromMs: number
  readonly toMs: number
  readonly bucketMs: number
  readonly groupBy: readonly UsageGroup[]
  /** The most rows to read. */
  readonly limit?: number
}

/** The usage of one group in one time bucket. Fields that the query does not group by are null. */
export type UsageRow = {
  readonly startMs: number
  readonly projectId: string | null
  readonly keyId: string | null
  readonly model: string | null
  /** The end user, for as long as the audit log keeps names. */
  readonly userId: string | null
  readonly requests: number
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly micro: number
}

/** Read-only queries of the ledger. */
export type LedgerReports = {
  entries(organizationId: string, page: LedgerPage): Promise<Paged<LedgerEntry>>
  usage(query: UsageQuery): Promise<readonly UsageRow[]>
}

/** A month of hours by user could have millions of rows. */
const maxUsageRows = 100_000

/** The rows of a query. Rejects one with more than a response can hold. */
export async function readUsage(ledger: LedgerReports, query: UsageQuery): Promise<readonly UsageRow[]> {
  const rows = await ledger.usage({ ...query, limit: maxUsageRows + 1 })
  if (rows.length <= maxUsageRows) return rows
  const message = `group_by: the period has more than ${maxUsageRows} rows. Request a shorter period, bucket=day, or fewer groups.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'group_by' })
}
