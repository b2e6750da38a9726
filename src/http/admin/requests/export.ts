import type { Static } from 'typebox'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { Cell } from '../csv.ts'
import { exportQuery, exportRoute, type FileExportParts } from '../export-route.ts'
import type { AuditReads, LoggedEvent } from '../../../domain/audit/log.ts'
import type { ReadFilter } from './filter.ts'
import { RequestFilterFields } from './filter-schema.ts'
import { presentRequest } from './present.ts'
import { requestExample, RequestObject } from './schema.ts'

type Row = Static<typeof RequestObject>

const columns = Object.keys(RequestObject.properties).filter((name) => name !== 'object' && name !== 'created_at_ms')

const query = exportQuery(RequestFilterFields)

/** `/v1/organization/requests/export`: the list of requests as a file. */
export const requestExportRoute = (
  parts: FileExportParts & { readonly reads: { readonly events: AuditReads }; readonly readFilter: ReadFilter },
): Route =>
  exportRoute<Static<typeof query>, Row, LoggedEvent>(parts, {
    name: 'exportRequests',
    path: '/v1/organization/requests/export',
    permission: 'audit:read',
    summary: 'Export requests',
    fileName: 'requests',
    query,
    readQuery: createQueryValidator(query),
    list: async (organizationId, input, page) =>
      parts.reads.events.listRequests(organizationId, await parts.readFilter(organizationId, input), page),
    present: presentRequest,
    columns,
    cells,
    example: requestExample,
  })

function cells(row: Row): readonly Cell[] {
  const cell = {
    ...row,
    created_at: new Date(row.created_at_ms).toISOString(),
    categories: row.categories.join(' '),
  }
  return columns.map((name) => new Map<string, Cell>(Object.entries(cell)).get(name) ?? null)
}
