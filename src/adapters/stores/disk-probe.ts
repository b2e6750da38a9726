import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../base/fault.ts'

/** A step of the embedded database, or what waits for PostgreSQL, may need this much. */
const leastFreeBytes = 256 * 1024

/** Enough to meet a quota, a file system that turned read-only, or a broken disk. */
const smallBytes = 4 * 1024

/**
 * Writes to the folder for real, because a quota or a read-only file system does not show in the free space. A disk that
 * was full must take all that a request may need before it counts as usable again. Rejects with a Fault.
 */
export async function writeToDisk(folder: string, wasFailing: boolean): Promise<void> {
  const path = join(folder, `probe.${process.pid}.tmp`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const disk = await statfs(folder)
    if (disk.bavail * disk.bsize < leastFreeBytes) throw full()
    await using file = await open(path, 'w', 0o600)
    await file.write(new Uint8Array(wasFailing ? leastFreeBytes : smallBytes))
    await file.datasync()
  } catch (error) {
    throw toDiskFault(error)
  } finally {
    await rm(path, { force: true }).catch(() => undefined)
  }
}

const full = (cause?: unknown): Fault =>
  new Fault('unavailable', 'storage_full', 'The disk of the data folder is full.', { retryAfterSeconds: 30, cause })

function toDiskFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const code: unknown = Reflect.get(Object(error), 'code')
  if (code === 'ENOSPC' || code === 'EDQUOT') return full(error)
  return new Fault('unavailable', 'storage_unavailable', `The data folder cannot be written: ${messageOf(error)}.`, {
    retryAfterSeconds: 30,
    cause: error,
  })
}
