import type { Pool, PoolClient } from 'pg'
import {
  DatabaseError,
  type Database,
  type Row,
  type Statement,
  type StatementResult,
  type Value,
} from '../database.ts'
import { fromPostgres, isConnectionLost, isUndoneByServer } from '../errors.ts'
import { createGate } from '../gate.ts'
import { createPool, type PostgresOptions } from './pool.ts'
import { createSession, execute, runStep } from './session.ts'
import { runTransaction } from '../transaction.ts'

/** How often a step is tried that the server undid to end a deadlock. */
const maxTries = 3

/** The engine for many nodes. Rejects when the server cannot be reached. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = createPool(options)
  try {
    await borrow(pool, async () => undefined)
  } catch (error) {
    await pool.end()
    throw error
  }
  const gate = createGate()
  return {
    engine: 'postgres',
    read: (sql, params) => gate.enter(() => read(pool, sql, params)),
    write: (statements) => gate.enter(() => write(pool, statements)),
    transaction: (work) => gate.enter(() => borrow(pool, (client) => runTransaction(createSession(client), work))),
    async [Symbol.asyncDispose]() {
      await gate.close()
      if (!pool.ending) await pool.end()
    },
  }
}

/** A read may have met a connection that died in the pool: once more, on another one. */
async function read<R extends Row>(pool: Pool, sql: string, params: readonly Value[] = []): Promise<R[]> {
  const once = () => borrow(pool, async (client) => (await execute(client, { sql, params })).rows as R[])
  try {
    return await once()
  } catch (error) {
    if (error instanceof DatabaseError && isConnectionLost(error.cause)) return await once()
    throw error
  }
}

/** Tried again only when the server says that it undid the step. After a lost connection nobody knows. */
async function write(pool: Pool, statements: readonly Statement[]): Promise<StatementResult[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await borrow(pool, (client) => runStep(client, statements))
    } catch (error) {
      const isSafe = error instanceof DatabaseError && isUndoneByServer(error.cause)
      if (!isSafe || tries === maxTries) throw error
    }
  }
}

/** Lends a connection. One that may be broken, or did not come back from its transaction, is not used again. */
async function borrow<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await connect(pool)
  let isSuspect = false
  try {
    return await use(client)
  } catch (error) {
    isSuspect = error instanceof DatabaseError && error.reason === 'unavailable'
    throw error
  } finally {
    client.release(isSuspect || client.getTransactionStatus() !== 'I')
  }
}

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw fromPostgres(error)
  }
}
