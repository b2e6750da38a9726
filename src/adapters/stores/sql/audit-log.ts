import { auditKinds } from '../../../domain/identity/audit-log.ts'
import type { Actor, AuditEntry, AuditFilter, AuditKind, AuditLogStore } from '../../../domain/identity/audit-log.ts'
import type { Transaction } from './database.ts'
import { selectPage } from './page.ts'

const columns =
  'id, organization_id, at, kind, actor_kind, credential_id, request_id, resource_id, policy_id, project_id, old_revision, new_revision, details'

type EntryRow = {
  id: string
  organization_id: string
  at: number
  kind: string
  actor_kind: string
  credential_id: string | null
  request_id: string | null
  resource_id: string
  policy_id: string | null
  project_id: string | null
  old_revision: number | null
  new_revision: number | null
  details: string
}

/** The administrators' log in SQL, inside the transaction of the change that it tells of. */
export function auditLogStore(tx: Transaction): AuditLogStore {
  return {
    async append(entry) {
      const { actor } = entry
      await tx.run(
        `insert into audit_log (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [
          entry.id,
          actor.organizationId,
          entry.atMs,
          entry.kind,
          actor.kind,
          actor.credentialId,
          actor.requestId,
          entry.resourceId,
          entry.policyId ?? null,
          entry.projectId ?? null,
          entry.oldRevision ?? null,
          entry.newRevision ?? null,
          JSON.stringify(entry.details),
        ],
      )
    },
    list: (organizationId, filter, page) =>
      selectPage(
        tx,
        {
          table: 'audit_log',
          columns,
          where: { organization_id: organizationId, ...conditionsOf(filter) },
          map: entryOf,
        },
        page,
      ),
  }
}

function conditionsOf({ kind, policyId, projectId, requestId }: AuditFilter): Record<string, string> {
  return {
    ...(kind !== undefined && { kind }),
    ...(policyId !== undefined && { policy_id: policyId }),
    ...(projectId !== undefined && { project_id: projectId }),
    ...(requestId !== undefined && { request_id: requestId }),
  }
}

const entryOf = (row: EntryRow): AuditEntry => ({
  id: row.id,
  actor: {
    organizationId: row.organization_id,
    kind: actorKindOf(row.actor_kind),
    credentialId: row.credential_id,
    requestId: row.request_id,
  },
  atMs: row.at,
  kind: kindOf(row.kind),
  resourceId: row.resource_id,
  ...(row.policy_id !== null && { policyId: row.policy_id }),
  ...(row.project_id !== null && { projectId: row.project_id }),
  ...(row.old_revision !== null && { oldRevision: row.old_revision }),
  ...(row.new_revision !== null && { newRevision: row.new_revision }),
  details: detailsOf(row.details),
})

const actorKindOf = (text: string): Actor['kind'] => (text === 'operator' ? 'operator' : 'admin_key')

function kindOf(text: string): AuditKind {
  const kind = auditKinds.find((each) => each === text)
  if (kind === undefined) throw new Error(`the audit log holds a ${text}, which this program does not know`)
  return kind
}

function detailsOf(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
