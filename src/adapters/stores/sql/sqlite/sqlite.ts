import { join } from 'node:path'
import type { Database, DatabaseRow, Statement, Value } from '../database.ts'
import { createDrainLatch } from '../drain-latch.ts'
import { databaseFileName } from './data-folder.ts'
import { startDatabaseThread, type Channel } from './channel.ts'
import { onlyStep } from './protocol.ts'
import { createSqliteReports } from './reports.ts'
import { createWriters } from './writers.ts'
import { createWriteTimer } from '../write-timer.ts'
import { inTwoParts, runTransaction, type Session } from '../transaction.ts'

export type SqliteOptions = {
  /** An existing folder; the file in it is `gatehouse.db`. */
  readonly dataDir: string
  /** The longest wait for another process that locks the file, such as a backup. */
  readonly busyTimeoutMs?: number
  /**
   * Commits in batches, and keeps what is not committed yet in a redo log. Only for a folder that this process has locked,
   * because the log has one writer.
   */
  readonly hasRedoLog?: boolean
  /** Starts although the redo log of a crashed process is damaged. The loss is stored in the table `redo_loss`. */
  readonly acceptsLoss?: boolean
  /** How long a step waits in the redo log for its commit. */
  readonly flushAfterMs?: number
  /** The longest a report may take. */
  readonly reportTimeoutMs?: number
  /** Maximum size of the file in pages; beyond it writes fail as on a full disk. */
  readonly maxPages?: number
}

/** The embedded engine: SQLite in a thread of its own, so that neither a table scan nor the disk blocks the event loop. */
export async function openSqlite({ dataDir, reportTimeoutMs = 10_000, ...rest }: SqliteOptions): Promise<Database> {
  const defaults = { busyTimeoutMs: 5_000, hasRedoLog: false, acceptsLoss: false, flushAfterMs: 1_000 }
  const workerData = { path: join(dataDir, databaseFileName), ...defaults, ...rest }
  const script = new URL('./worker.ts', import.meta.url)
  const channel = startDatabaseThread({ name: 'storage', script, workerData })
  const writers = createWriters(channel)
  const read = async (statement: Statement): Promise<DatabaseRow[]> => {
    const [result] = onlyStep(await channel.call('read', () => [[statement]]))
    return result?.rows ?? []
  }
  const commitPending = async (): Promise<void> => void onlyStep(await channel.call('commit pending'))
  const reports = createSqliteReports({ workerData, timeoutMs: reportTimeoutMs, commitPending, readPending: read })
  const latch = createDrainLatch()
  const writes = createWriteTimer()

  const close = async (): Promise<void> => {
    await reports[Symbol.asyncDispose]() // the last connection to close checkpoints the write-ahead log, and a reader cannot
    await channel.call('close').catch(() => undefined) // a dead thread has nothing to close
    await channel.ended
  }

  try {
    onlyStep(await channel.call('open'))
  } catch (error) {
    await close()
    throw error
  }
  return {
    engine: 'sqlite',
    read: <R extends DatabaseRow>(sql: string, params: readonly Value[] = []) =>
      latch.enter(async () => (await read({ sql, params })) as R[]),
    report: <R extends DatabaseRow>(sql: string, params: readonly Value[] = []) =>
      latch.enter(async () => (await reports.run({ sql, params })) as R[]),
    write: (statements, options) => latch.enter(() => writes.time(writers.write(statements, options))),
    writeAfter: (first, next) =>
      latch.enter(() => writers.exclusively(() => runTransaction(createSession(channel), inTwoParts(first, next)))),
    transaction: (work) => latch.enter(() => writers.exclusively(() => runTransaction(createSession(channel), work))),
    figures() {
      const pending = channel.pending()
      const requests = { running: Math.min(pending, 1), waiting: Math.max(pending - 1, 0) }
      return { requests, reports: reports.figures(), writes: writes.figures() }
    },
    async [Symbol.asyncDispose]() {
      await latch.close()
      await close()
    },
  }
}

function createSession(channel: Channel): Session {
  const send = (kind: 'begin' | 'commit' | 'rollback') => async (): Promise<void> => {
    onlyStep(await channel.call(kind))
  }
  return {
    begin: send('begin'),
    async execute(sql, params) {
      const [result] = onlyStep(await channel.call('statement', () => [[{ sql, params }]]))
      return result ?? { rows: [], changed: 0 }
    },
    commit: send('commit'),
    rollback: () => send('rollback')().catch(() => undefined), // a dead thread has rolled back already
  }
}
