import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { Charge } from '../../../../domain/credits/charge.ts'
import {
  ledgerEntryKinds,
  type LedgerEntry,
  type LedgerPage,
  type LedgerReports,
} from '../../../../domain/credits/reports.ts'
import type { Database, Transaction } from '../database.ts'
import { chargeColumns, chargeOf, type ChargeRow } from './rows.ts'
import { readUsage } from '../rollup/usage.ts'
import { selectPage, type Condition } from '../page.ts'

export type ReportParts = {
  readonly clock: Pick<Clock, 'nowMs'>
  /** How long usage names end users. */
  readonly userDays: number
}

/** Read-only queries of the ledger. */
export function ledgerReports(database: Pick<Database, 'report'>, { clock, userDays }: ReportParts): LedgerReports {
  const query: Transaction['query'] = (sql, params) => database.report(sql, params)
  return {
    async entries(organizationId, page) {
      const listing = {
        table: 'credit_entry',
        columns: 'id, at, kind, micro, ref, note',
        where: { organization_id: organizationId },
        only: [[`kind <> 'slice'`], ...entryConditions(page)] as const,
        map: (row: EntryRow) => row,
      }
      const { items, hasMore } = await selectPage({ query }, listing, page)
      const charges = await chargesOf(query, items)
      return { items: items.map((row) => entryOf(row, charges.get(row.ref))), hasMore }
    },
    usage: (usage) => readUsage(query, usage, { nowSeconds: toUnixSeconds(clock.nowMs()), userDays }),
  }
}

/** `charge` knows the project, and its indexes lead to the entries of a request and of a time. `$1` is the organization. */
function entryConditions({ kind, projectId, requestId, fromMs, toMs }: LedgerPage): Condition[] {
  const bounds = [
    ...(fromMs === undefined ? [] : [`at >= ${Math.trunc(fromMs)}`]),
    ...(toMs === undefined ? [] : [`at < ${Math.trunc(toMs)}`]),
  ]
  const charges = `select c.id from charge c where ${['c.organization_id = $1', ...bounds.map((bound) => `c.${bound}`)].join(' and ')}`
  return [
    ...(kind === undefined ? [] : [['kind = ?', kind] as const]),
    ...(requestId === undefined ? [] : [[`id in (${charges} and c.request_id = ?)`, requestId] as const]),
    ...(projectId === undefined ? [] : [[`id in (${charges} and c.project_id = ?)`, projectId] as const]),
    ...(bounds.length === 0 ? [] : timeConditions(bounds, charges)),
  ]
}

/** Ids and times grow nearly together. With the range of ids, an engine reads only the entries of the time. */
function timeConditions(bounds: readonly string[], charges: string): Condition[] {
  const credited = `select g.id from credit_entry g where g.organization_id = $1 and g.kind in ('grant', 'payment', 'correction') and
    ${bounds.map((bound) => `g.${bound}`).join(' and ')}`
  const edge = (of: string): string => `(select ${of}(t.id) from (${charges} union all ${credited}) t)`
  return [...bounds.map((bound): Condition => [bound]), [`id between ${edge('min')} and ${edge('max')}`]]
}

type EntryRow = { id: string; at: number; kind: string; micro: number; ref: string; note: string }

async function chargesOf(query: Transaction['query'], rows: readonly EntryRow[]): Promise<Map<string, Charge>> {
  const used = rows.filter(({ kind }) => kind === 'usage').map(({ ref }) => ref)
  if (used.length === 0) return new Map()
  const parameters = used.map((_, at) => `$${at + 1}`).join(', ')
  const found = await query<ChargeRow>(
    `select ${chargeColumns.join(', ')} from charge where request_id in (${parameters})`,
    used,
  )
  return new Map(found.map((row) => [row.request_id, chargeOf(row)]))
}

const entryOf = ({ id, at, kind, micro, ref, note }: EntryRow, charge: Charge | undefined): LedgerEntry => ({
  id,
  atMs: at,
  kind: ledgerEntryKinds.find((known) => known === kind) ?? 'usage',
  micro: kind === 'grant' || kind === 'payment' ? micro : -micro,
  ref,
  note,
  charge: charge ?? null,
})
