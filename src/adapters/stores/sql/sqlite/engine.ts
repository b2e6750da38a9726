import { DatabaseSync } from 'node:sqlite'
import { assertExpectedRows, DatabaseError, UnexpectedRows, type StatementResult } from '../database.ts'
import { fromSqlite } from '../errors.ts'
import { openConnection, type SqliteConnection } from './connection.ts'
import type { Failure, StepOutcome, RequestKind, StatementList, WorkerOptions } from './protocol.ts'

type Engine = { handle(kind: RequestKind, steps: readonly StatementList[]): StepOutcome[] }

/**
 * Runs requests on one database file, one after the other. It has two connections, because the writer sees its own uncommitted
 * changes and a read must not.
 */
export function createEngine(options: WorkerOptions): Engine {
  let connections: { readonly writer: SqliteConnection; readonly reader: SqliteConnection } | undefined

  function opened() {
    if (connections === undefined) throw new Error('the database is not open')
    return connections
  }

  const handlers: Readonly<Record<RequestKind, (steps: readonly StatementList[]) => StepOutcome[]>> = {
    open: withoutResult(() => {
      connections = { writer: openWriter(options), reader: openReader(options) }
    }),
    read: (steps) => steps.map((step) => ({ results: runAll(opened().reader, step) })),
    group: (steps) => runGroup(opened().writer, steps),
    begin: withoutResult(() => command(opened().writer, 'begin immediate')),
    statement: (steps) => steps.map((step) => ({ results: runInTransaction(opened().writer, step) })),
    commit: withoutResult(() => command(opened().writer, 'commit')),
    rollback: withoutResult(() => rollback(opened().writer)),
    close: withoutResult(() => {
      opened().reader.close() // the last connection to close checkpoints the log, and a reader cannot
      opened().writer.close()
    }),
  }
  return {
    handle(kind, steps) {
      try {
        return handlers[kind](steps)
      } catch (error) {
        return [{ failure: toFailure(error) }]
      }
    },
  }
}

const withoutResult = (act: () => void) => (): StepOutcome[] => {
  act()
  return []
}

function openWriter({ path, busyTimeoutMs, maxPages }: WorkerOptions): SqliteConnection {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  database.exec('pragma page_size = 8192') // for new files: two audit events do not fit into the default of 4096 bytes
  const journal = database.prepare('pragma journal_mode = wal').get()
  if (journal?.['journal_mode'] !== 'wal')
    throw new DatabaseError('unavailable', `${path}: the file system does not support SQLite’s WAL`)
  database.exec('pragma synchronous = full') // a commit is on the disk before its promise resolves
  database.exec('pragma journal_size_limit = 67108864')
  database.exec('pragma wal_autocheckpoint = 2000') // pages that change often are written to the file less often
  database.exec('pragma temp_store = memory') // otherwise each statement journal is a new file
  if (maxPages !== undefined) database.exec(`pragma max_page_count = ${maxPages}`)
  return openConnection(database)
}

function openReader({ path, busyTimeoutMs }: WorkerOptions): SqliteConnection {
  return openConnection(new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true }))
}

/**
 * Group commit: one fsync for all steps. A step that fails is rolled back alone. If it rolled the whole transaction back, as a step
 * that does not fit on the disk may, each step is run in a transaction of its own.
 */
function runGroup(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] {
  try {
    return (
      runTogether(writer, steps) ??
      runWithSavepoints(writer, steps) ??
      steps.flatMap((step) => runGroup(writer, [step]))
    )
  } catch (error) {
    rollback(writer)
    const failure = toFailure(error)
    return steps.map(() => ({ failure }))
  }
}

/** Runs the steps without savepoints, which cost as much as the steps. Undefined if one failed: then none is done. */
function runTogether(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] | undefined {
  command(writer, 'begin immediate')
  const outcomes: StepOutcome[] = []
  for (const step of steps) {
    const outcome = attempt(() => runAll(writer, step))
    if ('failure' in outcome) {
      rollback(writer)
      return undefined
    }
    outcomes.push(outcome)
  }
  command(writer, 'commit')
  return outcomes
}

/** Runs each step with a savepoint. Undefined if a step rolled the whole transaction back. */
function runWithSavepoints(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] | undefined {
  command(writer, 'begin immediate')
  const outcomes: StepOutcome[] = []
  for (const step of steps) {
    const outcome = attempt(() => runStep(writer, step))
    if (!writer.isTransaction()) return steps.length === 1 ? [outcome] : undefined
    outcomes.push(outcome)
  }
  command(writer, 'commit')
  return outcomes
}

function runStep(writer: SqliteConnection, step: StatementList): StatementResult[] {
  command(writer, 'savepoint step')
  try {
    const results = runAll(writer, step)
    command(writer, 'release step')
    return results
  } catch (error) {
    if (writer.isTransaction()) {
      command(writer, 'rollback to step')
      command(writer, 'release step')
    }
    throw error
  }
}

function runInTransaction(writer: SqliteConnection, step: StatementList): StatementResult[] {
  if (!writer.isTransaction()) throw new Error('SQLite has rolled the transaction back')
  return runAll(writer, step)
}

function runAll(connection: SqliteConnection, step: StatementList): StatementResult[] {
  return step.map((statement, index) => {
    const result = connection.run(statement)
    assertExpectedRows(statement, index, result)
    return result
  })
}

function rollback(writer: SqliteConnection): void {
  if (writer.isTransaction()) command(writer, 'rollback')
}

function command(connection: SqliteConnection, sql: string): void {
  connection.run({ sql })
}

function attempt(run: () => StatementResult[]): StepOutcome {
  try {
    return { results: run() }
  } catch (error) {
    return { failure: toFailure(error) }
  }
}

function toFailure(error: unknown): Failure {
  if (error instanceof UnexpectedRows) return { statement: error.statement, changed: error.changed }
  const { reason, message } = fromSqlite(error)
  return { reason, message }
}
