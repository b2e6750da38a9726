import type { AuditKind, AuditRecord } from '../identity/audit-log.ts'
import { contentBody } from './content.ts'
import type { Policy } from './policy.ts'

/** A policy before and after a change; one of them is missing at its birth and at its end. */
export type PolicyMutation = { readonly kind: AuditKind; readonly before?: Policy; readonly after?: Policy }

/**
 * What the audit log keeps of a change. Published versions are kept in full: the log is where those of a deleted
 * policy can still be read.
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

/** The fields that have another value than before, under the names they have in the API. */
function changedFields(before: Policy | undefined, after: Policy | undefined): Record<string, unknown> {
  if (!after) return { name: before?.name, state: before?.state }
  const old = before && spelled(before)
  return Object.fromEntries(
    Object.entries(spelled(after)).filter(([name, value]) => JSON.stringify(old?.[name]) !== JSON.stringify(value)),
  )
}

const spelled = ({ name, description, state, draft }: Policy): Record<string, unknown> => ({
  name,
  description,
  state,
  ...contentBody(draft),
})

function newVersion(before: Policy | undefined, after: Policy | undefined): Record<string, unknown> {
  const version = after?.published
  if (!version || version.version === before?.published?.version) return {}
  return { version: { id: version.id, version: version.version, ...contentBody(version) } }
}
