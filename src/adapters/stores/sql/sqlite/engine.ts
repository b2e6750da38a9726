import { DatabaseSync } from 'node:sqlite'
import { DatabaseError, type StatementResult } from '../database.ts'
import { openConnection, openReads, type SqliteConnection } from './connection.ts'
import { createDeferredCommits, type GroupWriter } from './deferred-commits.ts'
import { command, commitGroup, rollback, runAll, toFailure } from './group.ts'
import type { ReaderOptions, StepOutcome, RequestKind, StatementList, WorkerOptions } from './protocol.ts'
import { removeRedoFile } from './redo-file.ts'
import { recoverRedoLog, removePosition } from './redo-recovery.ts'

type Engine = Pick<GroupWriter, 'isPending' | 'isFlushDue' | 'flush'> & {
  handle(kind: RequestKind, steps: readonly StatementList[]): StepOutcome[]
}

type Connections = {
  readonly writer: SqliteConnection
  readonly groups: GroupWriter
  /** Reads that see the pending groups. */
  readonly pendingReads: SqliteConnection
  readonly reader: SqliteConnection
}

/**
 * Runs requests on one database file, one after the other. It has two connections, because the writer sees the uncommitted
 * changes of a transaction and a read must not.
 */
export function createEngine(options: WorkerOptions): Engine {
  let connections: Connections | undefined

  function opened(): Connections {
    if (connections === undefined) throw new Error('the database is not open')
    return connections
  }

  /** Groups that are not committed yet are acknowledged, so reads must see them. */
  function readsOf({ groups, pendingReads, reader }: Connections): SqliteConnection {
    if (!groups.isPending()) return reader
    groups.restore()
    return pendingReads
  }

  const handlers: Readonly<Record<RequestKind, (steps: readonly StatementList[]) => StepOutcome[]>> = {
    open: withoutResult(() => {
      connections = openConnections(options)
    }),
    read: (steps) => steps.map((step) => ({ results: runAll(readsOf(opened()), step) })),
    group: (steps) => opened().groups.runGroup(steps),
    'relaxed group': (steps) => opened().groups.runGroup(steps, { waitsForDisk: false }),
    'commit pending': withoutResult(() => opened().groups.flush()),
    begin: withoutResult(() => {
      opened().groups.flush()
      command(opened().writer, 'begin immediate')
    }),
    statement: (steps) => steps.map((step) => ({ results: runInTransaction(opened().writer, step) })),
    commit: withoutResult(() => command(opened().writer, 'commit')),
    rollback: withoutResult(() => rollback(opened().writer)),
    close: withoutResult(() => closeConnections(opened(), options)),
  }
  return {
    handle(kind, steps) {
      try {
        return handlers[kind](steps)
      } catch (error) {
        return [{ failure: toFailure(error) }]
      }
    },
    isPending: () => connections?.groups.isPending() ?? false,
    isFlushDue: () => connections?.groups.isFlushDue() ?? false,
    flush: () => connections?.groups.flush(),
  }
}

const withoutResult = (act: () => void) => (): StepOutcome[] => {
  act()
  return []
}

function openConnections(options: WorkerOptions): Connections {
  const database = openWriter(options)
  const writer = openConnection(database)
  const groups = options.hasRedoLog
    ? createDeferredCommits(writer, recoverRedoLog(writer, options))
    : immediateCommits(writer)
  return { writer, groups, pendingReads: openReads(database), reader: openReader(options) }
}

const immediateCommits = (writer: SqliteConnection): GroupWriter => ({
  runGroup: (steps) => commitGroup(writer, steps),
  flush() {},
  restore() {},
  isPending: () => false,
  isFlushDue: () => false,
  close() {},
})

/** If the pending groups cannot be committed, their log stays for the next start. */
function closeConnections({ writer, groups, reader }: Connections, { path, hasRedoLog }: WorkerOptions): void {
  try {
    groups.flush()
    groups.close()
    if (!hasRedoLog) return
    command(writer, removePosition) // before the file, because a crash between the two must not count as a loss
    removeRedoFile(path)
  } finally {
    reader.close() // the last connection to close checkpoints the write-ahead log, and a reader cannot
    writer.close()
  }
}

function openWriter({ path, busyTimeoutMs, maxPages }: WorkerOptions): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  database.exec('pragma page_size = 8192') // for new files: two audit events do not fit into the default of 4096 bytes
  const journal = database.prepare('pragma journal_mode = wal').get()
  if (journal?.['journal_mode'] !== 'wal')
    throw new DatabaseError('unavailable', `${path}: the file system does not support SQLite’s WAL`)
  database.exec('pragma synchronous = full') // a commit is on the disk before its promise resolves
  database.exec('pragma journal_size_limit = 67108864')
  database.exec('pragma wal_autocheckpoint = 2000') // pages that change often are written to the file less often
  database.exec('pragma temp_store = memory') // otherwise each statement journal is a new file
  database.exec('pragma cache_size = -4000') // kilobytes; otherwise pages of pending groups are written before their commit
  if (maxPages !== undefined) database.exec(`pragma max_page_count = ${maxPages}`)
  return database
}

export function openReader({ path, busyTimeoutMs }: ReaderOptions): SqliteConnection {
  return openConnection(new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true }))
}

function runInTransaction(writer: SqliteConnection, step: StatementList): StatementResult[] {
  if (!writer.isTransaction()) throw new Error('SQLite has rolled the transaction back')
  return runAll(writer, step)
}
