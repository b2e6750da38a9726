import { messageOf, type Fault } from '../../base/fault.ts'
import type { StorageHealth } from '../../base/storage-health.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import type { ReadinessCheck } from '../../http/service/health.ts'

/** A rejected write needs its reason, because nothing else says what the operator has to correct. */
const problemOf = (fault: Fault | undefined): string | undefined =>
  fault?.code === 'storage_rejected' ? `${fault.message} The reason: ${messageOf(fault.cause)}` : fault?.message

export type StorageCheckParts = {
  readonly database: Database
  readonly storage: StorageHealth
  readonly config: Pick<Config, 'audit'>
}

/**
 * Readiness of the database and of this node's disk. A node is ready while it can answer requests. With PostgreSQL one of the
 * two may fail, because the other keeps charges and events; with embedded storage both are the same disk.
 */
export function storageChecks({ database, storage, config: { audit } }: StorageCheckParts): ReadinessCheck[] {
  // No response is sent before its audit event is in the log; the spool does not count.
  const isAuditRequired = audit.requests && audit.on_failure === 'refuse'
  const isEmbedded = database.engine === 'sqlite'
  const isRejecting = (): boolean => storage.requestFault() !== undefined
  const readable = (): Promise<string | undefined> => database.read('select 1 as one').then(() => undefined, messageOf)
  return [
    {
      part: 'storage',
      problem: async () => (await readable()) ?? problemOf(storage.database()),
      isVital: () => isEmbedded || isAuditRequired || isRejecting(),
    },
    ...(isEmbedded ? [] : [{ part: 'disk', problem: async () => storage.disk()?.message, isVital: isRejecting }]),
  ]
}
