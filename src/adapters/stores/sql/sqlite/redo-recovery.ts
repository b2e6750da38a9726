import { systemClock } from '../../../../base/clock.ts'
import { systemRandom } from '../../../../base/random.ts'
import type { SqliteConnection } from './connection.ts'
import { command, rollback } from './group.ts'
import {
  finishPreparedFile,
  keepDamagedFile,
  openRedoFile,
  prepareRedoFile,
  readRedoFiles,
  redoPathOf,
  type FoundLog,
} from './redo-file.ts'
import { createRedoLog, type RedoLog } from './redo-log.ts'
import { lastWrittenAfter, logIdOf, readRecords, type RedoPosition, type RedoRecord } from './redo-record.ts'

/**
 * One row: the redo log of the process that has the database open, and its last record that is committed. A regular stop removes the
 * row. So a row at the start shows that the last process crashed, and that its log must be there.
 */
const createPosition =
  'create table if not exists redo_position (log_id INTEGER not null, sequence INTEGER not null) STRICT'

/** The last record of the redo log that is committed. */
export const setPosition = 'update redo_position set sequence = $1'

/** Marks a regular stop: everything is committed, and no redo log is needed. */
export const removePosition = 'delete from redo_position'

/** Losses that the operator accepted, until they are in the audit log. */
const createLosses = `create table if not exists redo_loss
  (at INTEGER not null, groups INTEGER, description TEXT not null) STRICT`

/** Acknowledged writes that cannot be repeated. `groups` is null if their number is unknown. */
export type RedoLoss = { readonly groups: number | null; readonly description: string }

export type RecoveryOptions = {
  /** The file of the database. */
  readonly path: string
  /** Starts without the records of a damaged log. Otherwise the start fails. */
  readonly acceptsLoss: boolean
}

/**
 * Commits the records that the previous process left, and starts a new log. The new id is committed together with them, so that no
 * record is repeated twice, and a file that belongs to another state of the database is not used.
 */
export function recoverRedoLog(writer: SqliteConnection, { path, acceptsLoss }: RecoveryOptions): RedoLog {
  const logId = logIdOf(Buffer.from(systemRandom.bytes(6)).readUIntLE(0, 6))
  let loss: RedoLoss | undefined
  command(writer, 'begin immediate')
  try {
    command(writer, createPosition)
    const previous = positionOf(writer)
    if (previous) finishPreparedFile(path, previous.logId)
    loss = redoMissing(writer, readRedoFiles(path))
    if (loss && !acceptsLoss) throw damagedLog(path, loss)
    if (loss) recordLoss(writer, loss)
    command(writer, removePosition)
    writer.run({ sql: 'insert into redo_position (log_id, sequence) values ($1, 0)', params: [logId] })
    prepareRedoFile(path, logId)
    command(writer, 'commit')
  } catch (error) {
    rollback(writer)
    throw error
  }
  if (loss) keepDamagedFile(path, logId)
  return createRedoLog(openRedoFile(path), logId)
}

/** Runs the records that the database lacks, in the current transaction. Returns what is lost of a damaged log. */
export function redoMissing(writer: SqliteConnection, find: (logId: number) => FoundLog): RedoLoss | undefined {
  const position = positionOf(writer)
  if (position === undefined) return undefined
  const { logId, sequence: committed } = position
  const { records: bytes, problem } = find(logId)
  const missing = readRecords(bytes, logId).filter(({ sequence }) => sequence > committed)
  const [first] = missing
  if (first && first.sequence !== committed + 1) throw contradiction(first)
  redo(writer, missing)
  const next = (missing.at(-1)?.sequence ?? committed) + 1
  const last = lastWrittenAfter(next, bytes, logId)
  if (last !== undefined)
    return { groups: last - next + 1, description: `record ${next} cannot be read, but records after it can` }
  return problem === undefined ? undefined : { groups: null, description: problem }
}

/** Runs the statements of records again. Throws if one has another effect than the first time. */
export function redo(writer: SqliteConnection, records: readonly RedoRecord[]): void {
  for (const record of records) {
    for (const { sql, params, changed } of record.statements) {
      if (writer.run({ sql, params }).changed !== changed) throw contradiction(record)
    }
  }
}

/** Undefined after a regular stop. */
function positionOf(writer: SqliteConnection): RedoPosition | undefined {
  const sql = `select name from sqlite_master where type = 'table' and name = 'redo_position'`
  if (writer.run({ sql }).rows.length === 0) return undefined
  const [row] = writer.run({ sql: 'select log_id, sequence from redo_position' }).rows
  return row && { logId: Number(row['log_id']), sequence: Number(row['sequence']) }
}

function recordLoss(writer: SqliteConnection, { groups, description }: RedoLoss): void {
  command(writer, createLosses)
  writer.run({
    sql: 'insert into redo_loss (at, groups, description) values ($1, $2, $3)',
    params: [systemClock.nowMs(), groups, description],
  })
}

export function damagedLog(databasePath: string, { groups, description }: RedoLoss): Error {
  const lost = groups === null ? 'An unknown number of acknowledged writes' : `At least ${groups} acknowledged writes`
  return new Error(
    `the redo log ${redoPathOf(databasePath)} is damaged: ${description}. ${lost} of the second before the crash cannot be ` +
      'repeated. Bring the file back, restore a backup, or continue without them: gatehouse serve --accept-loss',
  )
}

const contradiction = ({ sequence }: RedoRecord): Error =>
  new Error(`the redo log contradicts the database at record ${sequence}; restore a backup`)
