import { chmodSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databaseFileName } from './data-folder.ts'
import { syncPath } from './durable-file.ts'

/**
 * Writes the database of a folder again without free pages. The new file replaces the old one when it is complete and on the disk. No
 * other process may have the database open, and it must have been closed regularly.
 */
export function vacuumFile(dataDir: string): void {
  const path = join(dataDir, databaseFileName)
  const fresh = `${path}.compact`
  const { size, mode } = statSync(path)
  const disk = statfsSync(dirname(path))
  const free = disk.bavail * disk.bsize
  if (free < size)
    throw new Error(`Giving disk back needs ${size} bytes of free disk in ${dataDir}, and ${free} are free.`)
  rmSync(fresh, { force: true }) // of a process that was killed
  try {
    {
      using database = new DatabaseSync(path)
      database.exec('pragma wal_checkpoint(truncate)')
      database.prepare('vacuum into ?').run(fresh)
    }
    chmodSync(fresh, mode)
    syncPath(fresh)
    renameSync(fresh, path)
    syncPath(dataDir)
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  } finally {
    rmSync(fresh, { force: true })
  }
}
