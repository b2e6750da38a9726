import { hash } from 'node:crypto'
import type { AuditRecord } from '../identity/audit-log.ts'
import type { GatewayConfiguration, SavedConfiguration } from './configuration.ts'

/** What the audit log keeps of a save: which fields changed, and digests. The values stand in the versions. */
export function gatewayAuditRecord(before: SavedConfiguration, after: SavedConfiguration): AuditRecord {
  const changedFields = fieldsThatDiffer(before.config, after.config)
  return {
    kind: 'gateway.config.updated',
    resourceId: after.config.policy_id,
    ...(before.version > 0 && { oldRevision: before.version }),
    newRevision: after.version,
    document: {
      ...(before.version > 0 && { digestBefore: digestOf(before.config) }),
      digestAfter: digestOf(after.config),
      changedFields,
    },
    details: { changed_fields: changedFields },
  }
}

/** The same for the same configuration: every one is spelled in one way. */
const digestOf = (config: GatewayConfiguration): string => hash('sha256', JSON.stringify(config), 'hex')

/** `name`, `rules.denylist`, `org_controls.user_quota`: as deep as one would look for it. */
function fieldsThatDiffer(before: GatewayConfiguration, after: GatewayConfiguration): string[] {
  const old = new Map(fieldsOf(before))
  return fieldsOf(after).flatMap(([path, value]) => (old.get(path) === value ? [] : [path]))
}

const fieldsOf = (config: GatewayConfiguration): [path: string, value: string][] =>
  Object.entries(config).flatMap(([name, section]) =>
    typeof section === 'object' && section !== null
      ? Object.entries(section).map(([field, value]): [string, string] => [`${name}.${field}`, JSON.stringify(value)])
      : [[name, JSON.stringify(section)]],
  )
