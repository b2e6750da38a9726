import type { Charge } from '../../../../domain/credits/charge.ts'
import {
  ledgerEntryKinds,
  type LedgerEntry,
  type LedgerPage,
  type LedgerReports,
  type UsageGroup,
  type UsageQuery,
  type UsageRow,
} from '../../../../domain/credits/reports.ts'
import type { Database, Transaction } from '../database.ts'
import { chargeColumns, chargeOf, type ChargeRow } from './rows.ts'
import { selectPage, type Condition } from '../page.ts'

/** Read-only queries of the ledger. */
export function ledgerReports(database: Pick<Database, 'report'>): LedgerReports {
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
    usage: async (usage) => (await query<UsageSqlRow>(usageSql(usage.groupBy), paramsOf(usage))).map(usageOf),
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

const groupColumns: Readonly<Record<UsageGroup, string>> = {
  project: 'project_id',
  api_key: 'key_id',
  model: 'model',
  user: 'user_id',
}

/** The ledger names no end users. The audit log does, for as long as it is kept. */
const userOfCharge = `(select e.user_id from audit_event e where e.request_id = charge.request_id
  and e.organization_id = charge.organization_id and e.user_id is not null order by e.sequence limit 1) as user_id`

function usageSql(groupBy: readonly UsageGroup[]): string {
  const grouped = groupBy.map((group) => groupColumns[group])
  const columns = Object.values(groupColumns).map((column) => {
    if (!grouped.includes(column)) return `null as ${column}`
    return column === groupColumns.user ? userOfCharge : column
  })
  return `select (at / $4) * $4 as start_ms, ${columns.join(', ')}, count(*) as requests,
      sum(input_tokens) as input_tokens, sum(cache_read_tokens) as cache_read_tokens,
      sum(cache_write_tokens) as cache_write_tokens, sum(output_tokens) as output_tokens, sum(micro) as micro
    from charge where organization_id = $1 and at >= $2 and at < $3 and outcome <> 'orphaned'
    group by ${['start_ms', ...grouped].join(', ')} order by ${['start_ms', ...grouped].join(', ')}`
}

const paramsOf = ({ organizationId, fromMs, toMs, bucketMs }: UsageQuery) => [organizationId, fromMs, toMs, bucketMs]

type UsageSqlRow = {
  start_ms: number
  project_id: string | null
  key_id: string | null
  model: string | null
  user_id: string | null
  requests: number
  input_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  output_tokens: number
  micro: number
}

const usageOf = (row: UsageSqlRow): UsageRow => ({
  startMs: row.start_ms,
  projectId: row.project_id,
  keyId: row.key_id,
  model: row.model,
  userId: row.user_id,
  requests: row.requests,
  inputTokens: row.input_tokens,
  cacheReadTokens: row.cache_read_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  outputTokens: row.output_tokens,
  micro: row.micro,
})
