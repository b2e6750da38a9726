import { systemRandom } from '../../../../base/random.ts'
import type { SqliteConnection } from './connection.ts'
import { command, rollback } from './group.ts'
import { createRedoLog, openRedoFile, readRedoFile, type RedoLog } from './redo-log.ts'
import { readRecords, type RedoPosition, type RedoRecord } from './redo-record.ts'

/** One row: the redo log of the process that opened the database last, and its last record that is committed. */
const createPosition =
  'create table if not exists redo_position (log_id INTEGER not null, sequence INTEGER not null) STRICT'

/** The last record of the redo log that is committed. */
export const setPosition = 'update redo_position set sequence = $1'

/**
 * Commits the records that the previous process left, and starts a new log. The new id is committed together with them, so that no
 * record is repeated twice, and a file that belongs to another state of the database is ignored.
 */
export function recoverRedoLog(writer: SqliteConnection, path: string): RedoLog {
  const logId = Buffer.from(systemRandom.bytes(6)).readUIntLE(0, 6)
  command(writer, 'begin immediate')
  try {
    command(writer, createPosition)
    redoMissing(writer, readRedoFile(path))
    command(writer, 'delete from redo_position')
    writer.run({ sql: 'insert into redo_position (log_id, sequence) values ($1, 0)', params: [logId] })
    command(writer, 'commit')
  } catch (error) {
    rollback(writer)
    throw error
  }
  return createRedoLog(openRedoFile(path), logId)
}

/** Runs the records of a file that the database lacks, in the current transaction. */
export function redoMissing(writer: SqliteConnection, file: Buffer): void {
  if (file.length === 0) return
  const [row] = writer.run({ sql: 'select log_id, sequence from redo_position' }).rows
  if (row === undefined) return
  const position: RedoPosition = { logId: Number(row['log_id']), sequence: Number(row['sequence']) }
  const missing = readRecords(file, position.logId).filter(({ sequence }) => sequence > position.sequence)
  const [first] = missing
  if (first && first.sequence !== position.sequence + 1) throw contradiction(first)
  redo(writer, missing)
}

/** Runs the statements of records again. Throws if one has another effect than the first time. */
export function redo(writer: SqliteConnection, records: readonly RedoRecord[]): void {
  for (const record of records) {
    for (const { sql, params, changed } of record.statements) {
      if (writer.run({ sql, params }).changed !== changed) throw contradiction(record)
    }
  }
}

const contradiction = ({ sequence }: RedoRecord): Error =>
  new Error(`the redo log contradicts the database at record ${sequence}; restore a backup`)
