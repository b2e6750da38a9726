import { statSync } from 'node:fs'
import { join } from 'node:path'
import { canStageBodies, packChains, packOldBodies } from '../../adapters/stores/sql/audit/pack.ts'
import { databaseFileName, hasDatabase } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { vacuumFile } from '../../adapters/stores/sql/sqlite/vacuum.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import type { Config } from '../../config/config.ts'
import { lockUnusedFolder } from './lock-folder.ts'
import { openStorage } from './storage.ts'

export type Compacted = {
  /** Events whose bodies were compressed. */
  readonly packed: number
  /** The size of the file of embedded storage. */
  readonly file?: { readonly bytesBefore: number; readonly bytesAfter: number }
}

/** Compresses what is not compressed yet. On embedded storage, where the server must not be running, it gives free disk back. */
export async function compact(config: Config, onProgress: (packed: number) => void): Promise<Compacted> {
  const { data_dir: dataDir, database_url: url } = config.storage
  if (url !== undefined) return { packed: await packAll(config, onProgress) }
  if (!hasDatabase(dataDir)) throw new Error(`There is no database in ${dataDir} to compact.`)
  const bytesOf = (): number => statSync(join(dataDir, databaseFileName)).size
  const bytesBefore = bytesOf()
  const packed = await packAll(config, onProgress)
  using _lock = await lockUnusedFolder(dataDir)
  vacuumFile(dataDir)
  return { packed, file: { bytesBefore, bytesAfter: bytesOf() } }
}

async function packAll(config: Config, onProgress: (packed: number) => void): Promise<number> {
  await using storage = await openStorage(config, { clock: systemClock, random: systemRandom })
  const { database } = storage
  if (!(await canStageBodies(database)))
    throw new Error(
      'A node of the version before uses this database and cannot read compressed events. Stop it, and try again an hour later.',
    )
  await packChains(database)
  return await packOldBodies(database, onProgress)
}
