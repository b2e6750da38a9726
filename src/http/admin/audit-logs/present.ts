import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { AuditEntry } from '../../../domain/identity/audit-log.ts'
import type { AuditEntryObject } from './schema.ts'

export const presentEntry = (entry: AuditEntry): Static<typeof AuditEntryObject> => ({
  id: entry.id,
  object: 'organization.audit_log',
  kind: entry.kind,
  created_at: toUnixSeconds(entry.atMs),
  actor: { type: entry.actor.kind, id: entry.actor.credentialId },
  request_id: entry.actor.requestId,
  resource_id: entry.resourceId,
  policy_id: entry.policyId ?? null,
  project_id: entry.projectId ?? null,
  old_revision: entry.oldRevision ?? null,
  new_revision: entry.newRevision ?? null,
  details: { ...entry.details },
})
