import { DatabaseError, type WriteOptions } from '../database.ts'
import type { RedoFile } from './redo-file.ts'
import { createRecordEncoder, readRecords, type RedoRecord, type RedoStatement } from './redo-record.ts'

/**
 * Keeps groups durable until the database commits them. A record is written with one call and one fsync. When the database has
 * committed all records, the log starts over at the beginning of its file, so that the file keeps its size.
 */
export type RedoLog = {
  /** The sequence of the last record. Sequences are 1, 2, 3 …, also after the log starts over. */
  sequence(): number
  /** Bytes of the records since the log started over. */
  size(): number
  /**
   * Returns once the record is on the disk, or if it need not wait, once the operating system has it. After a failure the log
   * must start over before the next record.
   */
  append(statements: readonly RedoStatement[], options?: WriteOptions): void
  /** The records since the log started over. */
  records(): RedoRecord[]
  startOver(): void
  close(): void
}

/** A file that one large group has extended beyond this size is cut when the log starts over. */
const keptBytes = 8 * 1024 * 1024

/** Creates a log without records. What the file contains is ignored, because it has another id. */
export function createRedoLog(file: RedoFile, logId: number): RedoLog {
  const records = createRecordEncoder()
  let sequence = 0
  /** The last record that is known to be on the disk. */
  let durable = 0
  let count = 0
  let end = 0
  let isBroken = false

  return {
    sequence: () => sequence,
    size: () => end,
    append(statements, { waitsForDisk = true } = {}) {
      if (isBroken) throw new Error('the redo log has an incomplete record')
      sequence++
      const record = records.encode({ logId, sequence, durable }, statements)
      try {
        file.write(record, end)
        if (waitsForDisk) {
          file.sync()
          durable = sequence
        }
      } catch (error) {
        isBroken = true
        discard(file, end)
        throw error
      }
      count++
      end += record.length
    },
    records() {
      const found = readRecords(file.read().subarray(0, end), logId)
      if (found.length !== count) throw new DatabaseError('unavailable', 'the redo log cannot be read back')
      return found
    },
    startOver() {
      if (isBroken || end > keptBytes) discard(file, 0)
      records.startOver()
      count = 0
      end = 0
      isBroken = false
    },
    close: () => file.close(),
  }
}

/** A record that was not acknowledged must not be found after a crash. If the disk fails here too, nothing more can be done. */
function discard(file: RedoFile, end: number): void {
  try {
    file.truncate(end)
  } catch {}
}
