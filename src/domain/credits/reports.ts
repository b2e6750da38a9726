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

/** Entries to which all given conditions apply. A project or a request selects its usage. */
export type LedgerFilter = {
  readonly kind?: (typeof ledgerEntryKinds)[number]
  readonly projectId?: string
  readonly requestId?: string
  readonly fromMs?: number
  /** Exclusive. */
  readonly toMs?: number
}

export type LedgerPage = Page & LedgerFilter

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

/** As the length of a bucket: the whole period is one bucket, which starts at 0. */
export const wholePeriodMs = 2 ** 40 * 1000

/** The rows of some buckets. */
export type UsagePage = {
  readonly rows: readonly UsageRow[]
  /** Where the next page starts; undefined after the end of the period. */
  readonly nextMs: number | undefined
}

/** A page ends with the day that has its last row, because an old day has one row a group, whatever the query's buckets are. */
const rowsPerPage = 10_000
/** A day of hours by user could have millions. */
const maxRowsAtOnce = 100_000
/** Days with few rows are read together, and those with more one by one. */
const maxRowsOfDays = 1_000

/** The first page of a query. Rejects it if one day has more rows than a response can hold. */
export async function readUsagePage(ledger: Pick<LedgerReports, 'usage'>, query: UsageQuery): Promise<UsagePage> {
  if (query.bucketMs === wholePeriodMs) {
    const rows = await ledger.usage({ ...query, limit: maxRowsAtOnce + 1 })
    if (rows.length > maxRowsAtOnce) throw tooManyRows('period')
    return { rows, nextMs: undefined }
  }
  const read: (readonly UsageRow[])[] = []
  let left = rowsPerPage
  let days = 1
  let fromMs = query.fromMs
  while (fromMs < query.toMs && left > 0) {
    const toMs = Math.min(query.toMs, (Math.floor(fromMs / dayMs) + days) * dayMs)
    const most = days === 1 ? maxRowsAtOnce : maxRowsOfDays
    const rows = await ledger.usage({ ...query, fromMs, toMs, limit: most + 1 })
    if (rows.length > most) {
      if (days === 1) throw tooManyRows('day')
      days = 1
      continue
    }
    read.push(rows)
    left -= rows.length
    fromMs = toMs
    if (rows.length <= maxRowsOfDays / 8) days *= 8
  }
  return { rows: read.flat(), nextMs: fromMs < query.toMs ? fromMs : undefined }
}

function tooManyRows(time: 'day' | 'period'): Fault {
  const advice = time === 'day' ? 'bucket=day, or fewer groups' : 'a shorter period, or fewer groups'
  const message = `group_by: the ${time} has more than ${maxRowsAtOnce} rows. Request ${advice}.`
  return new Fault('validation', 'invalid_parameter', message, { param: 'group_by' })
}
