import { dayMs } from '../../base/clock.ts'
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
/** More rows take the thread that serves requests too long at once. */
const maxSliceRows = 1_000

/**
 * The rows of a query in slices, each of one or more whole days: an old day has one row a group, whatever the query's buckets are. A
 * slice of several days has at most `maxSliceRows` rows. Rejects a query with more rows than a response can hold.
 */
export async function* readUsage(
  ledger: Pick<LedgerReports, 'usage'>,
  query: UsageQuery,
): AsyncGenerator<readonly UsageRow[]> {
  let left = maxUsageRows
  let days = 1
  for (let fromMs = query.fromMs; fromMs < query.toMs;) {
    const toMs = Math.min(query.toMs, (Math.floor(fromMs / dayMs) + days) * dayMs)
    const most = days === 1 ? left : Math.min(left, maxSliceRows)
    const rows = await ledger.usage({ ...query, fromMs, toMs, limit: most + 1 })
    if (rows.length > most) {
      if (days === 1) throw tooManyRows()
      days = 1
      continue
    }
    if (rows.length > 0) yield rows
    left -= rows.length
    fromMs = toMs
    if (rows.length <= maxSliceRows / 8) days *= 8
  }
}

function tooManyRows(): Fault {
  const message = `group_by: the period has more than ${maxUsageRows} rows. Request a shorter period, bucket=day, or fewer groups.`
  return new Fault('validation', 'invalid_parameter', message, { param: 'group_by' })
}
