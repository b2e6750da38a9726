import { PGlite, type Transaction as PgliteTransaction } from '@electric-sql/pglite'
import {
  assertExpectedRows,
  type Database,
  type DatabaseRow,
  type Statement,
  type StatementResult,
  type Transaction,
} from '../../src/adapters/stores/sql/database.ts'
import { fromPostgres } from '../../src/adapters/stores/sql/errors.ts'
import { postgresParsers } from '../../src/adapters/stores/sql/postgres/pool.ts'
import { inTwoParts, runTransaction } from '../../src/adapters/stores/sql/transaction.ts'

let shared: Promise<PGlite> | undefined

/**
 * PostgreSQL compiled into this process, for machines without a server. It has one session, so concurrent work waits. It starts
 * slowly, so the tests of a process share it; it is empty when opened.
 */
export async function openPglite(): Promise<Database> {
  shared ??= PGlite.create()
  const pglite = await shared
  await pglite.exec('drop schema public cascade; create schema public')
  return databaseOf(pglite)
}

/** Disposing does not close it. */
export function databaseOf(pglite: PGlite): Database {
  const read = async <R extends DatabaseRow>(sql: string, params?: Statement['params']): Promise<R[]> =>
    (await execute(pglite, { sql, params: params ?? [] })).rows as R[]
  return {
    engine: 'postgres',
    read,
    report: read,
    write: (statements) => pglite.transaction((transaction) => runStep(transaction, statements)),
    writeAfter: (first, next) => transactionOf(pglite, inTwoParts(first, next)),
    transaction: (work) => transactionOf(pglite, work),
    figures: () => ({
      requests: { running: 0, waiting: 0 },
      reports: { running: 0, waiting: 0, timedOut: 0 },
      writes: { count: 0, totalMs: 0 },
    }),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** PGlite begins, commits and rolls back around the callback. */
const transactionOf = <T>(pglite: PGlite, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  pglite.transaction((transaction) =>
    runTransaction(
      {
        begin: async () => {},
        execute: (sql, params) => execute(transaction, { sql, params }),
        commit: async () => {},
        rollback: async () => {},
      },
      work,
    ),
  )

/** Lets the test process end. */
export async function closePglite(): Promise<void> {
  await (await shared)?.close()
  shared = undefined
}

async function runStep(transaction: PgliteTransaction, statements: readonly Statement[]): Promise<StatementResult[]> {
  const results: StatementResult[] = []
  for (const [index, statement] of statements.entries()) {
    const result = await execute(transaction, statement)
    assertExpectedRows(statement, index, result)
    results.push(result)
  }
  return results
}

async function execute(session: Pick<PGlite, 'query'>, { sql, params = [] }: Statement): Promise<StatementResult> {
  try {
    const { rows, affectedRows } = await session.query<DatabaseRow>(sql, [...params], { parsers: postgresParsers })
    return { rows, changed: rows.length || (affectedRows ?? 0) }
  } catch (error) {
    throw fromPostgres(error)
  }
}
