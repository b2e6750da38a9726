import type { DatabaseRow, Transaction, Value } from '../database.ts'
import { fromSqlite } from '../errors.ts'
import type { SnapshotReads } from '../snapshot-reads.ts'
import { openReader } from '../sqlite/engine.ts'

/** Where a thread reads the database with a connection of its own. */
export type ReadSource =
  | { readonly engine: 'sqlite'; readonly path: string }
  | { readonly engine: 'postgres'; readonly url: string }

export type Reader = SnapshotReads & AsyncDisposable

/** One read-only connection. It sees what is committed. */
export function openSnapshotReads(source: ReadSource): Promise<Reader> {
  return source.engine === 'sqlite' ? openSqliteReader(source.path) : openPostgresReader(source.url)
}

/** The longest wait for another process that locks the file, such as a backup. */
const busyTimeoutMs = 5_000

async function openSqliteReader(path: string): Promise<Reader> {
  const connection = openReader({ path, busyTimeoutMs })
  const run = (sql: string, params: readonly Value[] = []): DatabaseRow[] => {
    try {
      return connection.run({ sql, params }).rows
    } catch (error) {
      throw fromSqlite(error)
    }
  }
  const query: Transaction['query'] = async <R extends DatabaseRow>(sql: string, params?: readonly Value[]) =>
    run(sql, params) as R[]
  return {
    query,
    async snapshot(work) {
      run('begin')
      try {
        return await work(query)
      } finally {
        run('rollback')
      }
    },
    async [Symbol.asyncDispose]() {
      connection.close()
    },
  }
}

/** Longer than that of requests, because the thread has a lower priority. */
const connectTimeoutMs = 30_000

/** Statements have the same timeout as those of requests, so that a hanging server does not hold the thread. */
async function openPostgresReader(url: string): Promise<Reader> {
  const { createPool } = await import('../postgres/pool.ts')
  const { connect, execute } = await import('../postgres/session.ts')
  await using opened = new AsyncDisposableStack()
  const { pool } = createPool({ url, poolSize: 1, connectTimeoutMs })
  opened.defer(() => pool.end())
  const client = await connect(pool)
  opened.defer(() => client.release(true))
  const query: Transaction['query'] = async <R extends DatabaseRow>(sql: string, params: readonly Value[] = []) =>
    (await execute(client, { sql, params })).rows as R[]
  const kept = opened.move()
  return {
    query,
    async snapshot(work) {
      await query('begin isolation level repeatable read read only')
      try {
        return await work(query)
      } finally {
        await query('rollback')
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
