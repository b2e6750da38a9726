import Type, { type Static } from 'typebox'
import type { StorageStatus } from '../../domain/system/storage-status.ts'
import { integer } from '../described.ts'
import type { Route } from '../route.ts'
import { installationRoute } from './route.ts'

export const StorageObject = Type.Object(
  {
    engine: Type.Enum(['embedded', 'postgresql'], { description: 'Where data is stored.' }),
    database_bytes: integer('The size of the database.'),
    disk_bytes: integer('The size of the disk of the data folder.'),
    disk_free_bytes: integer('The free part of that disk.'),
    requests_last_week: integer('Requests of the audit log in the last seven days.'),
    growth_bytes: integer(
      'By how much the database grows in the next seven days if requests continue as in the last seven.',
    ),
  },
  {
    title: 'Storage',
    examples: [
      {
        engine: 'embedded',
        database_bytes: 2_200_000_000,
        disk_bytes: 100_000_000_000,
        disk_free_bytes: 60_000_000_000,
        requests_last_week: 600_000,
        growth_bytes: 1_320_000_000,
      },
    ],
  },
)

/** Whether the disk is large enough, for `gatehouse doctor`. */
export const storageRoute = (readStorage: () => Promise<StorageStatus>): Route =>
  installationRoute({
    name: 'getStorage',
    method: 'GET',
    path: '/operator/storage',
    summary: 'The size and the growth of the database, and the free disk',
    answer: { description: 'The storage.', schema: StorageObject },
    async operation() {
      const status = await readStorage()
      return {
        engine: status.engine,
        database_bytes: status.databaseBytes,
        disk_bytes: status.diskBytes,
        disk_free_bytes: status.freeBytes,
        requests_last_week: status.requestsLastWeek,
        growth_bytes: status.growthBytes,
      }
    },
  })

export type StorageBody = Static<typeof StorageObject>
