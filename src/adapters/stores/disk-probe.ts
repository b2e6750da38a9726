import { existsSync } from 'node:fs'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Fault, messageOf } from '../../base/fault.ts'

/** A write to the embedded database or to the spool can need this much. */
const leastFreeBytes = 256 * 1024

/** Enough to detect a quota, a file system that became read-only, or a broken disk. */
const smallBytes = 4 * 1024

/**
 * Writes a file, because the free space shows neither a quota nor a read-only file system. After a failure the write is as large
 * as a request can need, so that the disk counts as usable only if a request would succeed. Rejects with a Fault.
 */
export async function writeToDisk(folder: string, wasFailing: boolean): Promise<void> {
  const path = join(folder, `probe.${process.pid}.tmp`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if ((await diskSpaceOf(folder)).freeBytes < leastFreeBytes) throw full()
    await using file = await open(path, 'w', 0o600)
    await file.write(new Uint8Array(wasFailing ? leastFreeBytes : smallBytes))
    await file.datasync()
  } catch (error) {
    throw toDiskFault(error)
  } finally {
    await rm(path, { force: true }).catch(() => undefined)
  }
}

/** `freeBytes`: what this user may still write. A folder that does not exist yet is on the disk of the nearest one that does. */
export async function diskSpaceOf(folder: string): Promise<{ readonly freeBytes: number; readonly diskBytes: number }> {
  let existing = resolve(folder)
  while (!existsSync(existing)) existing = dirname(existing)
  const { bavail, blocks, bsize } = await statfs(existing)
  return { freeBytes: bavail * bsize, diskBytes: blocks * bsize }
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
