import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncPath } from './durable-file.ts'
import { namesItsFile } from './redo-record.ts'

/** The records of a redo log, without the block that names the log. */
export type RedoFile = {
  write(bytes: Uint8Array, position: number): void
  /** Returns once all writes are on the disk. */
  sync(): void
  read(): Buffer
  /** Removes the records from this position. */
  truncate(position: number): void
  close(): void
}

/** The records that a file has of a log, and what is wrong with the file. */
export type FoundLog = { readonly records: Buffer; readonly problem?: string }

/**
 * The first block names the log and the size of the file, and is never written again. So a file that was zeroed, replaced or cut is
 * noticed at the next start, although its records alone look like those of an idle server.
 */
const headBytes = 4096
const magic = 'gatehouse redo 2'

/** Nearly all groups fit, so the file seldom grows. */
const fileBytes = headBytes + 2 * 1024 * 1024

export const redoPathOf = (databasePath: string): string => `${databasePath}-redo`

/** The file of a log that starts now, until the database has committed its id. */
const preparedPathOf = (databasePath: string): string => `${redoPathOf(databasePath)}.new`

export const redoPathsOf = (databasePath: string): readonly string[] => [
  redoPathOf(databasePath),
  preparedPathOf(databasePath),
]

/** Reads the files now. The result finds the log with an id in what was read. */
export function readRedoFiles(databasePath: string): (logId: number) => FoundLog {
  const files = redoPathsOf(databasePath).map(readIfPresent)
  return (logId) => {
    const [current] = files
    if (!namesItsFile(logId)) return { records: current ?? Buffer.alloc(0) }
    for (const bytes of files) {
      const head = bytes && readHead(bytes)
      if (!bytes || head?.logId !== logId) continue
      const records = bytes.subarray(headBytes)
      return bytes.length < head.fileBytes ? { records, problem: 'the end of the file is missing' } : { records }
    }
    const problem = current ? 'its first block is damaged or belongs to another log' : 'the file is missing'
    return { records: Buffer.alloc(0), problem }
  }
}

/** Creates the file of a new log. The database must commit the log's id before `openRedoFile`. */
export function prepareRedoFile(databasePath: string, logId: number): void {
  const path = preparedPathOf(databasePath)
  const descriptor = openSync(path, 'w', 0o600)
  try {
    writeSync(descriptor, headOf(logId))
    ftruncateSync(descriptor, fileBytes)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncPath(dirname(path))
}

/** Ends a start that crashed after the database had committed the id of a prepared file. */
export function finishPreparedFile(databasePath: string, logId: number): void {
  const bytes = readIfPresent(preparedPathOf(databasePath))
  if (bytes && readHead(bytes)?.logId === logId) replaceWithPrepared(databasePath)
}

export function openRedoFile(databasePath: string): RedoFile {
  replaceWithPrepared(databasePath)
  const path = redoPathOf(databasePath)
  const descriptor = openSync(path, 'r+')
  return {
    write(bytes, position) {
      const start = headBytes + position
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at, bytes.length - at, start + at)
    },
    sync: () => fdatasyncSync(descriptor),
    read: () => readFileSync(path).subarray(headBytes),
    truncate(position) {
      ftruncateSync(descriptor, headBytes + position)
      if (headBytes + position < fileBytes) ftruncateSync(descriptor, fileBytes)
    },
    close: () => closeSync(descriptor),
  }
}

/** Keeps a damaged file for an investigation, under a name that no start reads. */
export function keepDamagedFile(databasePath: string, logId: number): void {
  const path = redoPathOf(databasePath)
  if (existsSync(path)) renameSync(path, `${path}.damaged-${logId}`)
}

export function removeRedoFile(databasePath: string): void {
  rmSync(redoPathOf(databasePath), { force: true })
}

function replaceWithPrepared(databasePath: string): void {
  renameSync(preparedPathOf(databasePath), redoPathOf(databasePath))
  syncPath(dirname(databasePath))
}

function headOf(logId: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.write(magic, 0)
  head.writeDoubleLE(logId, 16)
  head.writeDoubleLE(fileBytes, 24)
  head.writeUInt32LE(crc32(head.subarray(0, 32)), 32)
  return head
}

function readHead(bytes: Buffer): { readonly logId: number; readonly fileBytes: number } | undefined {
  if (bytes.length < headBytes || bytes.toString('latin1', 0, 16) !== magic) return undefined
  if (crc32(bytes.subarray(0, 32)) !== bytes.readUInt32LE(32)) return undefined
  return { logId: bytes.readDoubleLE(16), fileBytes: bytes.readDoubleLE(24) }
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
