import { hash } from 'node:crypto'
import type { AuditRecord } from '../identity/audit-log.ts'
import type { GatewayConfiguration, SavedConfiguration } from './configuration.ts'

/** The audit record of a save: the names of changed fields, and digests. The stored versions have the values. */
export function gatewayAuditRecord(before: SavedConfiguration, after: SavedConfiguration): AuditRecord {
  const changedFields = changedPaths(before.config, after.config)
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

/** Equal configurations have equal digests, because `withDefaults` normalises every configuration. */
const digestOf = (config: GatewayConfiguration): string => hash('sha256', JSON.stringify(config), 'hex')

/** Paths of changed fields, at most two levels deep: `name`, `rules.denylist`, `org_controls.user_quota`. */
function changedPaths(before: GatewayConfiguration, after: GatewayConfiguration): string[] {
  const old = new Map(fieldsOf(before))
  return fieldsOf(after).flatMap(([path, value]) => (old.get(path) === value ? [] : [path]))
}

const fieldsOf = (config: GatewayConfiguration): [path: string, value: string][] =>
  Object.entries(config).flatMap(([name, section]) =>
    typeof section === 'object' && section !== null
      ? Object.entries(section).map(([field, value]): [string, string] => [`${name}.${field}`, JSON.stringify(value)])
      : [[name, JSON.stringify(section)]],
  )
