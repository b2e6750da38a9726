import { Socket } from 'node:net'
import { Pool, type PoolConfig } from 'pg'
import { DatabaseError, type Value } from '../database.ts'

export type PostgresOptions = {
  readonly url: string
  readonly poolSize?: number
  /** The longest a statement may run; 0 for no limit, which migrations need. */
  readonly statementTimeoutMs?: number
  /** The longest wait for a connection, new or from the pool. */
  readonly connectTimeoutMs?: number
  /** The longest a caller waits for a hanging server; 0 for no limit, which migrations need. */
  readonly answerTimeoutMs?: number
}

export type ReportOptions = {
  readonly reportsPoolSize?: number
  /** The longest a report may run, and the longest it may wait for a connection. */
  readonly reportTimeoutMs?: number
  /** A replica for reports. Without it they have connections of their own to the same server. */
  readonly reportsUrl?: string | undefined
}

/** The pool, and a function that closes all its connections: in use, idle and connecting. */
export type BreakablePool = { readonly pool: Pool; breakAll(): void }

/** The server ends slow statements itself; this covers a server that does not answer at all. */
const answerGraceMs = 1_000

/**
 * The longest wait for a row that another transaction has locked. Charges, events and responses are then spooled. Longer than
 * the server needs to find a deadlock, because a deadlock is resolved by a retry.
 */
const lockTimeoutMs = 1_500

/** Ends the locks of a node that froze inside a transaction. */
const idleInTransactionMs = 60_000

/** Creates a small pool with bounded waits, which handles broken connections. */
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
    pipeline: true, // sends the statements of a step together, in one round trip
    types: { getTypeParser: (type: number) => postgresParsers[type] ?? String },
    // Not start-up parameters, because connection poolers reject them. Read-only outside of `begin read write`, so that
    // after a failed `begin` in a pipeline the following statements cannot commit one by one.
    // eslint-disable-next-line typescript/no-misused-promises -- the pool waits for it; its types do not say so
    onConnect: (client) => {
      const settings =
        `set statement_timeout = ${statementTimeoutMs}; set default_transaction_read_only = on;` +
        `set lock_timeout = ${statementTimeoutMs === 0 ? 0 : lockTimeoutMs};` +
        `set idle_in_transaction_session_timeout = ${idleInTransactionMs}`
      return client.query(settings)
    },
  }
  const pool = new Pool(config)
  pool.on('error', () => undefined) // an idle connection broke; the pool has dropped it
  pool.on('connect', (client) => client.on('error', () => undefined)) // its statements report the error
  return { pool, breakAll: () => sockets.forEach((socket) => socket.destroy()) }
}

/** Parsers for PostgreSQL's text format, by type number; other types stay text. */
export const postgresParsers: Readonly<Record<number, (text: string) => Value>> = {
  16: (text) => (text === 't' ? 1 : 0), // boolean as 1 or 0, because SQLite has no boolean
  17: (text) => Uint8Array.fromHex(text.slice(2)), // bytea, as \x0123
  20: toSafeNumber, // bigint
  21: Number, // smallint
  23: Number, // integer
  700: Number, // real
  701: Number, // double precision
  1700: toSafeNumber, // numeric, the type of sum() over bigint
}

/** Throws instead of rounding, because amounts of money must be exact. */
function toSafeNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new DatabaseError('other', `${text} is beyond the integers that a number holds exactly`)
  }
  return value
}
