import { Socket } from 'node:net'
import { Pool, type PoolConfig } from 'pg'
import { postgresParsers } from './values.ts'

export type PostgresOptions = {
  readonly url: string
  readonly poolSize?: number
  /** How long a statement may run; 0 for as long as it takes, which is what migrations need. */
  readonly statementTimeoutMs?: number
  /** How long to wait for a connection, new or from the pool, before saying that there is none. */
  readonly connectTimeoutMs?: number
  /** How long a caller waits for a server that hangs; 0 for ever, which is what migrations need. */
  readonly answerTimeoutMs?: number
}

/** The pool, and a way to break all its connections: those in use, idle and not open yet. */
export type BreakablePool = { readonly pool: Pool; breakAll(): void }

/** The server ends a statement first; this is for a server that does not answer at all. */
const answerGraceMs = 1_000

/** A node that froze inside a transaction must not hold its locks for ever. */
const idleInTransactionMs = 60_000

/** Connections that are few, wait a bounded time, and whose breaking is nobody's surprise. */
export function createPool(options: PostgresOptions): BreakablePool {
  const { url, poolSize = 10, statementTimeoutMs = 10_000, connectTimeoutMs = 3_000 } = options
  const sockets = new Set<Socket>()
  const config: PoolConfig = {
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    connectionString: url,
    fallback_application_name: 'gatehouse',
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs === 0 ? undefined : statementTimeoutMs + answerGraceMs,
    keepAlive: true,
    pipeline: true, // a step's statements leave together: one round trip
    types: { getTypeParser: (type: number) => postgresParsers[type] ?? String },
    // Not as start-up parameters: connection poolers refuse those. Read-only outside of a `begin read write`, so
    // that a `begin` that failed in a pipeline cannot leave the statements behind it to commit one by one.
    // eslint-disable-next-line typescript/no-misused-promises -- the pool waits for it; its types do not say so
    onConnect: (client) => {
      const settings =
        `set statement_timeout = ${statementTimeoutMs}; set default_transaction_read_only = on;` +
        `set idle_in_transaction_session_timeout = ${idleInTransactionMs}`
      return client.query(settings)
    },
  }
  const pool = new Pool(config)
  pool.on('error', () => undefined) // an idle connection broke; the pool has dropped it
  pool.on('connect', (client) => client.on('error', () => undefined)) // its statements say so themselves
  return { pool, breakAll: () => sockets.forEach((socket) => socket.destroy()) }
}
