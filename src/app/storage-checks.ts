import type { Database } from '../adapters/stores/sql/database.ts'
import { messageOf } from '../base/fault.ts'
import type { StorageHealth } from '../base/storage-health.ts'
import type { ReadinessCheck } from '../http/service/health.ts'

export type StorageCheckParts = {
  readonly database: Database
  readonly storage: StorageHealth
  /** No answer leaves without its event in the log, whatever waits elsewhere. */
  readonly isAuditRequired: boolean
}

/**
 * The database and this node's disk. Readiness means that requests are answered: with PostgreSQL either of the two may fail,
 * because charges and events are kept by the other; with embedded storage both are one.
 */
export function storageChecks({ database, storage, isAuditRequired }: StorageCheckParts): ReadinessCheck[] {
  const isEmbedded = database.engine === 'sqlite'
  const isRefusing = (): boolean => storage.refusal() !== undefined
  const readable = (): Promise<string | undefined> => database.read('select 1 as one').then(() => undefined, messageOf)
  return [
    {
      part: 'storage',
      problem: async () => (await readable()) ?? storage.database()?.message,
      isVital: () => isEmbedded || isAuditRequired || isRefusing(),
    },
    ...(isEmbedded ? [] : [{ part: 'disk', problem: async () => storage.disk()?.message, isVital: isRefusing }]),
  ]
}
