import type { Static } from 'typebox'
import type { Route } from '../../route.ts'
import { createQueryValidator } from '../../validate.ts'
import type { Cell } from '../../../base/csv.ts'
import type { EventStreamParts } from '../event-stream.ts'
import { createExportPage, exportQuery, exportRoute, type ReadExportPage } from '../export-route.ts'
import type { AuditFilter, AuditReads, LoggedEvent } from '../../../domain/audit/log.ts'
import { auditFilterOf } from './filter.ts'
import { presentAuditEntry } from './present.ts'
import { auditEntryExample, type AuditEntryObject, AuditFilterFields } from './schema.ts'

type Entry = Static<typeof AuditEntryObject>

const cellsOf = (entry: Entry) => ({
  id: entry.id,
  sequence: entry.sequence,
  created_at: new Date(entry.created_at * 1_000).toISOString(),
  kind: entry.kind,
  message: entry.message,
  actor_type: entry.actor.type,
  actor_id: entry.actor.id,
  request_id: entry.request_id,
  resource_id: entry.resource_id,
  policy_id: entry.policy_id,
  project_id: entry.project_id,
  user_id: entry.user_id,
  decision: entry.decision,
  old_revision: entry.old_revision,
  new_revision: entry.new_revision,
  details: JSON.stringify(entry.details),
  fingerprint: entry.fingerprint,
})

const query = exportQuery(AuditFilterFields)

export const auditExportPage = createExportPage<Pick<AuditReads, 'list'>, AuditFilter, Entry, LoggedEvent>({
  list: (events, { organizationId, filter, page }) => events.list(organizationId, filter, page),
  present: presentAuditEntry,
  cells: (entry): readonly Cell[] => Object.values(cellsOf(entry)),
})

/** `/v1/organization/audit_logs/export`: the audit log as a file. */
export const auditExportRoute = (parts: EventStreamParts & { readonly readPage: ReadExportPage<AuditFilter> }): Route =>
  exportRoute<Static<typeof query>, AuditFilter>(parts, {
    name: 'exportAuditEvents',
    path: '/v1/organization/audit_logs/export',
    permission: 'audit:read',
    summary: 'Export audit events',
    fileName: 'audit-log',
    query,
    readQuery: createQueryValidator(query),
    readFilter: (_organizationId, input) => auditFilterOf(input),
    columns: Object.keys(cellsOf(auditEntryExample)),
    example: auditEntryExample,
  })
