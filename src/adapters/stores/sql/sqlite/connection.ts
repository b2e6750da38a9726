import { constants, type DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Statement, StatementResult, Value } from '../database.ts'

/** One connection with a cache of prepared statements by their text. */
export type SqliteConnection = {
  run(statement: Statement): StatementResult
  /** False after SQLite rolled a transaction back on its own, which may happen when the disk is full. */
  isTransaction(): boolean
  close(): void
}

type Prepared = {
  readonly statement: StatementSync
  readonly returnsRows: boolean
  readonly countsRows: boolean
  /** Values are bound without conversion, because the column types convert them to integers. */
  readonly bindsUnconverted: boolean
}

/** Bounds the cache, because statements with lists have a text for each length. */
const maxPrepared = 500

export function openConnection(database: DatabaseSync): SqliteConnection {
  const cache = new Map<string, Prepared>()

  function prepared(sql: string): Prepared {
    const cached = cache.get(sql)
    if (cached !== undefined) return cached
    const [oldest] = cache.keys()
    if (cache.size >= maxPrepared && oldest !== undefined) cache.delete(oldest)
    const fresh = prepare(database, sql)
    cache.set(sql, fresh)
    return fresh
  }

  return {
    run({ sql, params = [] }) {
      const { statement, returnsRows, countsRows, bindsUnconverted } = prepared(sql)
      const values = bindsUnconverted ? params : params.map(toBinding)
      if (returnsRows) {
        const rows = statement.all(...values)
        return { rows, changed: rows.length }
      }
      const { changes } = statement.run(...values)
      return { rows: [], changed: countsRows ? Number(changes) : 0 }
    },
    isTransaction: () => database.isTransaction,
    close: () => database.close(),
  }
}

/** The same connection for reads, which see its open transaction and cannot write. SQLite asks for permission when it prepares a statement. */
export function openReads(database: DatabaseSync): SqliteConnection {
  const connection = openConnection(database)
  let isReading = false
  database.setAuthorizer((action, _name, value) =>
    isReading && !isReadAction(action, value) ? constants.SQLITE_DENY : constants.SQLITE_OK,
  )
  return {
    ...connection,
    run(statement) {
      isReading = true
      try {
        return connection.run(statement)
      } finally {
        isReading = false
      }
    },
  }
}

const readActions: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
])

/** A pragma with a value sets something. */
const isReadAction = (action: number, value: string | null): boolean =>
  readActions.has(action) || (action === constants.SQLITE_PRAGMA && value === null)

function prepare(database: DatabaseSync, sql: string): Prepared {
  const text = toPositions(sql)
  const statement = database.prepare(text)
  // SQLite prepares only the first statement of a text and ignores the others silently.
  if (text.slice(statement.sourceSQL.length).trim() !== '') throw new Error('one statement at a time')
  return {
    statement,
    returnsRows: statement.columns().length > 0,
    // For other statements SQLite returns the count of the last change.
    countsRows: /^\s*(insert|update|delete|replace|with)\b/i.test(text),
    bindsUnconverted: /^insert into \w+ \([\w, ]+\) values [(?, )]+$/.test(text),
  }
}

/**
 * `$1` is a name in SQLite and a position in PostgreSQL; `?1` is the same position in SQLite. If each parameter occurs once and in
 * order, a bare `?` is used, because SQLite searches a list for each number, which is slow in long statements.
 */
function toPositions(sql: string): string {
  const numbers = [...sql.matchAll(parameter)].flatMap(([, digits]) => (digits === undefined ? [] : [Number(digits)]))
  const isInOrder = numbers.every((number, at) => number === at + 1)
  return sql.replace(parameter, (match, digits) => (digits === undefined ? match : isInOrder ? '?' : `?${digits}`))
}

/** Also matches quoted texts, so that parameters inside of them are skipped. */
const parameter = /'[^']*'|\$(\d+)/g

/**
 * node:sqlite binds every number as REAL: 7 / $1 would not be an integer division, and $1 || '' would give 2.0. The conversion
 * costs as much as the binding, so inserts of many rows skip it (`bindsUnconverted`).
 */
const toBinding = (value: Value): Value =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
