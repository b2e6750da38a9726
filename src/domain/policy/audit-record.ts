import { changedValues, type AuditKind, type AuditRecord } from '../mutations/audit-log.ts'
import { contentBody } from './content.ts'
import type { Policy } from './policy.ts'

/** A policy before and after a mutation. A creation has no `before`, a deletion no `after`. */
export type PolicyMutation = { readonly kind: AuditKind; readonly before?: Policy; readonly after?: Policy }

/**
 * The audit record of a mutation. It contains published versions in full, because the versions of a deleted policy can be
 * read only in the audit log.
 */
export function policyAuditRecord(id: string, { kind, before, after }: PolicyMutation): AuditRecord {
  return {
    kind,
    resourceId: id,
    policyId: id,
    ...(before && { oldRevision: before.revision }),
    ...(after && { newRevision: after.revision }),
    details: { ...changedFields(before, after), ...newVersion(before, after) },
  }
}

/** The fields whose values differ, under the names of the API, and their values before. */
function changedFields(before: Policy | undefined, after: Policy | undefined): Record<string, unknown> {
  if (!after) return { name: before?.name, state: before?.state }
  if (!before) return auditedFields(after)
  return changedValues(auditedFields(before), auditedFields(after))
}

const auditedFields = ({ name, description, state, rolloutPercent, draft }: Policy): Record<string, unknown> => ({
  name,
  description,
  state,
  rollout_percent: rolloutPercent,
  ...contentBody(draft),
})

function newVersion(before: Policy | undefined, after: Policy | undefined): Record<string, unknown> {
  const version = after?.published
  if (!version || version.version === before?.published?.version) return {}
  const { id, version: number, reason } = version
  return { version: { id, version: number, ...contentBody(version) }, ...(reason !== null && { reason }) }
}
