import { DatabaseError, type DatabaseRow, type StatementResult, type Transaction, type Value } from './database.ts'

/** What an engine offers while one connection is set apart for a transaction. */
export type Session = {
  begin(): Promise<void>
  execute(sql: string, params: readonly Value[]): Promise<StatementResult>
  commit(): Promise<void>
  /** Called after every failure, also one of `commit`; must not throw. */
  rollback(): Promise<void>
}

/**
 * The life of an interactive transaction, the same on every engine. A statement that failed dooms it even where
 * `work` goes on: PostgreSQL insists on that, and SQLite must not be more lenient.
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
  const unfinished = new Set<Promise<StatementResult>>() // keeps those that failed
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
    /** Waits for statements that `work` did not wait for, and throws the first failure among all of them. */
    async close(): Promise<void> {
      isOpen = false
      for (const outcome of await Promise.allSettled(unfinished)) {
        if (outcome.status === 'rejected') throw outcome.reason
      }
    },
  }
}
