import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Statement, StatementResult, Value } from '../database.ts'

/** One connection that remembers its prepared statements by their text. */
export type SqliteConnection = {
  run(statement: Statement): StatementResult
  /** False once SQLite gave up a transaction by itself, as it may when the disk is full. */
  isTransaction(): boolean
  close(): void
}

type Prepared = {
  readonly statement: StatementSync
  readonly answersRows: boolean
  readonly countsRows: boolean
  /** Its values go into columns as they are, and the type of a column makes integers of them. */
  readonly bindsPlainly: boolean
}

/** Texts with lists of changing length must not fill the memory. */
const maxPrepared = 500

export function openConnection(database: DatabaseSync): SqliteConnection {
  const cache = new Map<string, Prepared>()

  function prepared(sql: string): Prepared {
    const known = cache.get(sql)
    if (known !== undefined) return known
    const [oldest] = cache.keys()
    if (cache.size >= maxPrepared && oldest !== undefined) cache.delete(oldest)
    const fresh = prepare(database, sql)
    cache.set(sql, fresh)
    return fresh
  }

  return {
    run({ sql, params = [] }) {
      const { statement, answersRows, countsRows, bindsPlainly } = prepared(sql)
      const values = bindsPlainly ? params : params.map(toBinding)
      if (answersRows) {
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

function prepare(database: DatabaseSync, sql: string): Prepared {
  const text = toPositions(sql)
  const statement = database.prepare(text)
  // SQLite prepares the first statement of a text and would forget the others without a word.
  if (text.slice(statement.sourceSQL.length).trim() !== '') throw new Error('one statement at a time')
  return {
    statement,
    answersRows: statement.columns().length > 0,
    // For anything else SQLite repeats the count of the last change.
    countsRows: /^\s*(insert|update|delete|replace|with)\b/i.test(text),
    bindsPlainly: /^insert into \w+ \([\w, ]+\) values [(?, )]+$/.test(text),
  }
}

/**
 * `$1` is a name to SQLite and a position to PostgreSQL; `?1` is the same position here. Where each stands once and in
 * its order a bare `?` will do: every number is looked up in a list of all of them, which takes long in a long statement.
 */
function toPositions(sql: string): string {
  const numbers = [...sql.matchAll(parameter)].flatMap(([, digits]) => (digits === undefined ? [] : [Number(digits)]))
  const isInOrder = numbers.every((number, at) => number === at + 1)
  return sql.replace(parameter, (match, digits) => (digits === undefined ? match : isInOrder ? '?' : `?${digits}`))
}

/** Texts in quotes match too, so that nothing inside of them does. */
const parameter = /'[^']*'|\$(\d+)/g

/**
 * node:sqlite binds every number as a REAL: 7 / $1 would not divide as integers and $1 || '' would say 2.0. Making them
 * something else costs as much as binding them, so that long lists of new rows go without.
 */
const toBinding = (value: Value): Value =>
  typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
