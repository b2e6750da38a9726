import type { Static } from 'typebox'
import type { LedgerEntry, LedgerReports } from '../../../domain/credits/reports.ts'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { Cell } from '../csv.ts'
import { exportQuery, exportRoute, type FileExportParts } from '../export-route.ts'
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

/** `/v1/organization/credits/ledger/export`: the ledger as a file. */
export const ledgerExportRoute = (
  parts: FileExportParts & { readonly reads: { readonly ledger: LedgerReports } },
): Route =>
  exportRoute<Static<typeof query>, Row, LedgerEntry>(parts, {
    name: 'exportLedgerEntries',
    path: '/v1/organization/credits/ledger/export',
    permission: 'usage:read',
    summary: 'Export ledger entries',
    fileName: 'ledger',
    query,
    readQuery: createQueryValidator(query),
    list: (organizationId, input, page) =>
      parts.reads.ledger.entries(organizationId, { ...page, ...ledgerFilterOf(input) }),
    present: presentLedgerEntry,
    columns: [...entryColumns, ...receiptColumns],
    cells,
    example: ledgerExample,
  })

const cells = (row: Row): readonly Cell[] => [
  ...entryColumns.map((name) => (name === 'created_at' ? new Date(row.created_at * 1_000).toISOString() : row[name])),
  ...receiptColumns.map((name) => row.receipt?.[name] ?? null),
]
