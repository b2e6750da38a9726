import type { Charge } from '../../../../domain/credits/charge.ts'
import type {
  LedgerEntry,
  LedgerReports,
  UsageGroup,
  UsageQuery,
  UsageRow,
} from '../../../../domain/credits/reports.ts'
import type { Database, Transaction } from '../database.ts'
import { chargeColumns, chargeOf, type ChargeRow } from './rows.ts'
import { verifyLedger } from './verify.ts'
import { selectPage } from '../page.ts'

/** Read-only queries of the ledger. */
export function ledgerReports(database: Pick<Database, 'read'>): LedgerReports {
  const query: Transaction['query'] = (sql, params) => database.read(sql, params)
  return {
    async entries(organizationId, page) {
      const listing = {
        table: 'credit_entry',
        columns: 'id, at, kind, micro, ref, note',
        where: { organization_id: organizationId },
        only: `kind <> 'slice'`,
        map: (row: EntryRow) => row,
      }
      const { items, hasMore } = await selectPage({ query }, listing, page)
      const charges = await chargesOf(query, items)
      return { items: items.map((row) => entryOf(row, charges.get(row.ref))), hasMore }
    },
    usage: async (usage) => (await query<UsageSqlRow>(usageSql(usage.groupBy), paramsOf(usage))).map(usageOf),
    verify: () => verifyLedger(query),
  }
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
  kind: kind === 'grant' || kind === 'payment' ? kind : 'usage',
  micro: kind === 'usage' ? -micro : micro,
  ref,
  note,
  charge: charge ?? null,
})

const groupColumns: Readonly<Record<UsageGroup, string>> = { project: 'project_id', api_key: 'key_id', model: 'model' }

function usageSql(groupBy: readonly UsageGroup[]): string {
  const grouped = groupBy.map((group) => groupColumns[group])
  const columns = Object.values(groupColumns).map((column) => (grouped.includes(column) ? column : `null as ${column}`))
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
  requests: row.requests,
  inputTokens: row.input_tokens,
  cacheReadTokens: row.cache_read_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  outputTokens: row.output_tokens,
  micro: row.micro,
})
