import { resolve } from 'node:path'
import { folderArchive } from '../adapters/archive/folder.ts'
import type { Archive } from '../adapters/stores/sql/audit/archive.ts'
import { ArchiveFailed, trimChains, type RetentionParts } from '../adapters/stores/sql/audit/retention.ts'
import type { AuditServicesParts } from './audit-parts.ts'

export type Trimming = {
  /** Archives and removes expired events. */
  trim(): Promise<unknown>
  /** Why the last run could not archive events; undefined if it could. */
  archiveProblem(): string | undefined
}

/** Retention of the audit log, with the archive that the configuration names. */
export function openTrimming(parts: AuditServicesParts, retention: Omit<RetentionParts, 'archive'>): Trimming {
  const archive = openArchive(parts)
  let problem: string | undefined
  parts.metrics.gauge(
    'gatehouse_audit_archive_failing',
    'Whether expired audit events are kept because they could not be archived: 1 if so.',
    () => (problem === undefined ? 0 : 1),
  )
  return {
    archiveProblem: () => problem,
    async trim() {
      try {
        await trimChains({ ...retention, archive })
        problem = undefined
      } catch (error) {
        if (error instanceof ArchiveFailed) problem = error.message
        throw error
      }
    },
  }
}

function openArchive({ config, ids, audit, metrics }: AuditServicesParts): Archive | undefined {
  const { archive } = config.audit
  if (!archive) return undefined
  const events = metrics.counter('gatehouse_audit_archived_events_total', 'Audit events written to the archive.', {})
  return {
    target: folderArchive(resolve(archive.folder), ids),
    ids,
    keys: audit.keys,
    onArchived: (count) => events.add({}, count),
  }
}
