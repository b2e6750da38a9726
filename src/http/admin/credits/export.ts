import type { Static } from 'typebox'
import type { LedgerEntry, LedgerFilter, LedgerReports } from '../../../domain/credits/reports.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { Cell } from '../../../base/csv.ts'
import type { EventStreamParts } from '../event-stream.ts'
import { createExportPage, exportQuery, exportRoute, type ReadExportPage } from '../export-route.ts'
import { ledgerFilterOf, presentLedgerEntry } from './routes.ts'
import { ledgerExample, LedgerFilterFields, type LedgerEntryObject } from './schema.ts'

type Row = Static<typeof LedgerEntryObject>

const query = exportQuery(LedgerFilterFields)
const entryColumns = ['id', 'created_at', 'kind', 'credits', 'ref', 'note'] as const
const receiptColumns = [
  'request_id',
  'project_id',
  'api_key_id',
  'model',
  'outcome',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
] as const

export const ledgerExportPage = createExportPage<Pick<LedgerReports, 'entries'>, LedgerFilter, Row, LedgerEntry>({
  list: (ledger, { organizationId, filter, page }) => ledger.entries(organizationId, { ...page, ...filter }),
  present: presentLedgerEntry,
  cells: cellsOf,
})

/** `/v1/organization/credits/ledger/export`: the ledger as a file. */
export const ledgerExportRoute = (
  parts: EventStreamParts & { readonly readPage: ReadExportPage<LedgerFilter> },
): Route =>
  exportRoute<Static<typeof query>, LedgerFilter>(parts, {
    name: 'exportLedgerEntries',
    path: '/v1/organization/credits/ledger/export',
    permission: 'usage:read',
    summary: 'Export ledger entries',
    fileName: 'ledger',
    query,
    readQuery: createQueryValidator(query),
    readFilter: (_organizationId, input) => ledgerFilterOf(input),
    columns: [...entryColumns, ...receiptColumns],
    example: ledgerExample,
  })

function cellsOf(row: Row): readonly Cell[] {
  return [
    ...entryColumns.map((name) => (name === 'created_at' ? new Date(row.created_at * 1_000).toISOString() : row[name])),
    ...receiptColumns.map((name) => row.receipt?.[name] ?? null),
  ]
}
