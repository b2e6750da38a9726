import { diskSpaceOf } from '../../adapters/stores/disk-probe.ts'
import { countStored, databaseBytes } from '../../adapters/stores/sql/storage-figures.ts'
import { dayMs } from '../../base/clock.ts'
import { weeklyGrowth, type StorageStatus } from '../../domain/system/storage-status.ts'
import type { Infrastructure } from '../infrastructure.ts'

type Parts = Pick<Infrastructure, 'config' | 'dataDir' | 'database' | 'clock'>

export const createStorageStatus =
  ({ config, dataDir, database, clock }: Parts): (() => Promise<StorageStatus>) =>
  async () => {
    const bytes = await databaseBytes(database, dataDir)
    const retentionMs = config.audit.retention_days * dayMs
    const counts = await countStored(database, { nowMs: clock.nowMs(), retentionMs })
    return {
      engine: database.engine === 'sqlite' ? 'embedded' : 'postgresql',
      databaseBytes: bytes,
      ...(await diskSpaceOf(dataDir)),
      requestsLastWeek: counts.requestsLastWeek,
      growthBytes: weeklyGrowth(bytes, counts),
    }
  }
