import type { Pool, PoolClient } from 'pg'
import {
  assertExpectedRows,
  type DatabaseRow,
  type MakeStatements,
  type Statement,
  type StatementResult,
  type Unguarded,
} from '../database.ts'
import { fromPostgres } from '../errors.ts'
import type { Session } from '../transaction.ts'

const begin: Statement = { sql: 'begin read write' }
const commit: Statement = { sql: 'commit' }

/** Without this, `pg` accepts several statements in one text if there are no parameters; SQLite does not. */
const oneStatementOnly = { queryMode: 'extended' }

export async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw fromPostgres(error)
  }
}

export async function execute(client: PoolClient, { sql, params = [], name }: Statement): Promise<StatementResult> {
  try {
    const query = { text: sql, values: [...params], ...oneStatementOnly, ...(name !== undefined && { name }) }
    const { rows, rowCount } = await client.query<DatabaseRow>(query)
    return { rows, changed: rowCount ?? 0 }
  } catch (error) {
    throw fromPostgres(error)
  }
}

/** One atomic step in one round trip, or in two if a statement expects a number of rows. */
export async function runStep(client: PoolClient, statements: readonly Statement[]): Promise<StatementResult[]> {
  const isGuarded = statements.some(({ expect }) => expect !== undefined)
  try {
    const sent = await sendTogether(client, [begin, ...statements, ...(isGuarded ? [] : [commit])])
    const results = sent.slice(1, 1 + statements.length)
    if (isGuarded) {
      results.forEach((result, index) => assertExpectedRows(statements[index] ?? begin, index, result))
      await execute(client, commit)
    }
    return results
  } catch (error) {
    await rollback(client)
    throw error
  }
}

/** One atomic step in two round trips: up to the rows of `first`, and from there to the commit. */
export async function runInTwoParts<R extends DatabaseRow>(
  client: PoolClient,
  first: readonly Unguarded[],
  next: MakeStatements<R>,
): Promise<void> {
  try {
    const results = await sendTogether(client, [begin, ...first])
    await sendTogether(client, [...next((results.at(-1)?.rows ?? []) as R[]), commit])
  } catch (error) {
    await rollback(client)
    throw error
  }
}

/** Sends all statements in one packet. After a failure the server rejects the others, and turns a commit into a rollback. */
async function sendTogether(client: PoolClient, statements: readonly Statement[]): Promise<StatementResult[]> {
  const { stream } = client.connection
  stream.cork()
  const running = statements.map((statement) => execute(client, statement))
  stream.uncork()
  await Promise.allSettled(running)
  return await Promise.all(running) // rejects with the first failure in the order of the statements
}

async function rollback(client: PoolClient): Promise<void> {
  if (client.getTransactionStatus() === 'I') return
  await execute(client, { sql: 'rollback' }).catch(() => undefined) // a broken connection is rolled back by the server
}

/** The connection of an interactive transaction. */
export function createSession(client: PoolClient): Session {
  return {
    begin: async () => void (await execute(client, begin)),
    execute: (sql, params) => execute(client, { sql, params }),
    commit: async () => void (await execute(client, commit)),
    rollback: () => rollback(client),
  }
}
