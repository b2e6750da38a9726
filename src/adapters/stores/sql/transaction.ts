import {
  DatabaseError,
  type DatabaseRow,
  type MakeStatements,
  type StatementResult,
  type Transaction,
  type Unguarded,
  type Value,
} from './database.ts'

/** A connection of an engine that is reserved for one transaction. */
export type Session = {
  begin(): Promise<void>
  execute(sql: string, params: readonly Value[]): Promise<StatementResult>
  commit(): Promise<void>
  /** Called after every failure, also one of `commit`; must not throw. */
  rollback(): Promise<void>
}

/**
 * Runs an interactive transaction, the same way on every engine. If a statement fails, the transaction is rolled back even if
 * `work` continues: PostgreSQL enforces that, and SQLite must not be more lenient.
 */
export async function runTransaction<T>(session: Session, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await session.begin()
  const statements = openStatements(session)
  try {
    const value = await work(statements.tx)
    await statements.close()
    await session.commit()
    return value
  } catch (error) {
    await statements.close().catch(() => undefined)
    await session.rollback()
    throw error
  }
}

function openStatements(session: Session) {
  const unfinished = new Set<Promise<StatementResult>>() // failed statements stay in it
  let isOpen = true

  async function execute(sql: string, params: readonly Value[] = []): Promise<StatementResult> {
    if (!isOpen) throw new DatabaseError('other', 'the transaction is over')
    const running = session.execute(sql, params)
    unfinished.add(running)
    const result = await running
    unfinished.delete(running)
    return result
  }

  const tx: Transaction = {
    query: async <R extends DatabaseRow>(sql: string, params?: readonly Value[]) =>
      (await execute(sql, params)).rows as R[],
    run: async (sql, params) => (await execute(sql, params)).changed,
  }
  return {
    tx,
    /** Waits for statements that `work` did not await, and throws the first failure. */
    async close(): Promise<void> {
      isOpen = false
      for (const outcome of await Promise.allSettled(unfinished)) {
        if (outcome.status === 'rejected') throw outcome.reason
      }
    },
  }
}

/** The work of `writeAfter`, for an engine without round trips. */
export const inTwoParts =
  <R extends DatabaseRow>(first: readonly Unguarded[], next: MakeStatements<R>) =>
  async (tx: Transaction): Promise<void> => {
    let rows: R[] = []
    for (const { sql, params } of first) rows = await tx.query<R>(sql, params)
    for (const { sql, params } of next(rows)) await tx.run(sql, params)
  }
