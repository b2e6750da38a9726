import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { createEncryption } from '../../src/base/encryption.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { deliveryStore } from '../../src/adapters/stores/sql/exports/delivery.ts'
import { exportStore } from '../../src/adapters/stores/sql/exports/sinks.ts'
import type { ExportSink, ExportStore } from '../../src/domain/audit/export/export-sink.ts'
import { openAuditLog } from './audit-log.ts'

export const leaseMs = 15_000

/** Sinks of a database with two organizations, their log, and any number of sender nodes. */
export async function openExportStore(database: Database) {
  const log = await openAuditLog(database)
  const encryption = createEncryption(new Uint8Array(32).fill(7), systemRandom)
  const ids = createIds(log.clock, systemRandom)
  const within = <T>(work: (store: ExportStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => work(exportStore(tx, encryption)))
  return {
    log,
    encryption,
    within,
    node: (owner: string) =>
      deliveryStore({ database, clock: log.clock, events: log.events, encryption, owner, leaseMs }),
    /** Adds a sink that gets all retained events, unless `start` is `now`. */
    async addSink(sink: Partial<ExportSink> = {}, start: 'now' | 'retained' = 'retained'): Promise<ExportSink> {
      const made: ExportSink = {
        id: ids('sink'),
        organizationId: 'org_1',
        type: 'webhook',
        label: 'Test',
        enabled: true,
        config: { url: 'https://hooks.test', secret: '••••cdef' },
        version: 1,
        createdAtMs: log.clock.nowMs(),
        updatedAtMs: log.clock.nowMs(),
        ...sink,
      }
      await within((store) => store.insert(made, { secret: 'the-secret-of-the-sink-abcdef' }, start))
      return made
    },
  }
}
