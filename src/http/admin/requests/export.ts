import type { Static } from 'typebox'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { Cell } from '../../../base/csv.ts'
import type { EventStreamParts } from '../event-stream.ts'
import { createExportPage, exportQuery, exportRoute, type ReadExportPage } from '../export-route.ts'
import type { AuditReads, LoggedEvent, RequestFilter } from '../../../domain/audit/log.ts'
import type { ReadFilter } from './filter.ts'
import { RequestFilterFields } from './filter-schema.ts'
import { presentRequest } from './present.ts'
import { requestExample, RequestObject } from './schema.ts'

type Row = Static<typeof RequestObject>

const columns = Object.keys(RequestObject.properties).filter((name) => name !== 'object' && name !== 'created_at_ms')

const query = exportQuery(RequestFilterFields)

export const requestExportPage = createExportPage<Pick<AuditReads, 'listRequests'>, RequestFilter, Row, LoggedEvent>({
  list: (events, { organizationId, filter, page }) => events.listRequests(organizationId, filter, page),
  present: presentRequest,
  cells: cellsOf,
})

type RequestExportParts = EventStreamParts & {
  readonly readPage: ReadExportPage<RequestFilter>
  readonly readFilter: ReadFilter
}

/** `/v1/organization/requests/export`: the list of requests as a file. */
export const requestExportRoute = (parts: RequestExportParts): Route =>
  exportRoute<Static<typeof query>, RequestFilter>(parts, {
    name: 'exportRequests',
    path: '/v1/organization/requests/export',
    permission: 'audit:read',
    summary: 'Export requests',
    fileName: 'requests',
    query,
    readQuery: createQueryValidator(query),
    readFilter: parts.readFilter,
    columns,
    example: requestExample,
  })

function cellsOf(row: Row): readonly Cell[] {
  const cells: Readonly<Record<string, Cell>> = {
    ...row,
    created_at: new Date(row.created_at_ms).toISOString(),
    categories: row.categories.join(' '),
  }
  return columns.map((name) => cells[name] ?? null)
}
