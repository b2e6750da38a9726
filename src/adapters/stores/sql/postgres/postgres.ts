import type { Pool, PoolClient } from 'pg'
import { systemClock } from '../../../../base/clock.ts'
import {
  DatabaseError,
  type Database,
  type DatabaseRow,
  type Statement,
  type StatementResult,
  type Value,
} from '../database.ts'
import { fromPostgres, isConnectionLost, isUndoneByServer } from '../errors.ts'
import { createDrainLatch } from '../drain-latch.ts'
import { createDatabaseBreaker, type DatabaseBreaker, type DatabaseBreakerParts } from './breaker.ts'
import { createPool, type PostgresOptions } from './pool.ts'
import { createProbe } from './probe.ts'
import { createSession, execute, runStep } from './session.ts'
import { runTransaction } from '../transaction.ts'

/** How often a step is tried that the server undid to end a deadlock. */
const maxTries = 3

/** How long a caller waits for a server that hangs. */
const defaultAnswerTimeoutMs = 1_000

/** The engine for many nodes. Rejects when the server cannot be reached. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { pool, breakAll } = createPool(options)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => pool.end())
  await borrow({ pool, breaker: unbreakable }, async () => undefined)
  const { url, answerTimeoutMs = defaultAnswerTimeoutMs } = options
  const guard = { url, answerTimeoutMs, clock: systemClock, onOpen: breakAll }
  const breaker = answerTimeoutMs === 0 ? unbreakable : await createGuard(opened, guard)
  const server = { pool, breaker }
  const gate = createDrainLatch()
  opened.defer(() => gate.close())
  const kept = opened.move()
  return {
    engine: 'postgres',
    read: (sql, params) => gate.enter(() => read(server, sql, params)),
    write: (statements) => gate.enter(() => write(server, statements)),
    transaction: (work) =>
      gate.enter(() =>
        borrow(server, (client) => runTransaction(createSession(client), work).then(committed(breaker))),
      ),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

type GuardParts = { readonly url: string } & Omit<DatabaseBreakerParts, 'probe'>

type Server = { readonly pool: Pool; readonly breaker: DatabaseBreaker }

const unbreakable: DatabaseBreaker = {
  run: (work) => work({ isOver: false }),
  suspect() {},
  committed() {},
  [Symbol.dispose]() {},
}

async function createGuard(opened: AsyncDisposableStack, guard: GuardParts): Promise<DatabaseBreaker> {
  const { url, ...parts } = guard
  const probe = opened.use(createProbe({ url, timeoutMs: parts.answerTimeoutMs, clock: parts.clock }))
  // Now, while nothing is amiss: a new connection may take longer than a hung server is waited for.
  await probe.ask().catch(() => undefined)
  return opened.use(createDatabaseBreaker({ ...parts, probe: probe.ask }))
}

/** A read may have met a connection that died in the pool: once more, on another one. */
async function read<R extends DatabaseRow>(server: Server, sql: string, params: readonly Value[] = []): Promise<R[]> {
  const once = () => borrow(server, async (client) => (await execute(client, { sql, params })).rows as R[])
  try {
    return await once()
  } catch (error) {
    if (error instanceof DatabaseError && isConnectionLost(error.cause)) return await once()
    throw error
  }
}

/** Tried again only when the server says that it undid the step. After a lost connection nobody knows. */
async function write(server: Server, statements: readonly Statement[]): Promise<StatementResult[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await borrow(server, (client) => runStep(client, statements).then(committed(server.breaker)))
    } catch (error) {
      const isSafe = error instanceof DatabaseError && isUndoneByServer(error.cause)
      if (!isSafe || tries === maxTries) throw error
    }
  }
}

/** Lends a connection. One that may be broken, or did not come back from its transaction, is not used again. */
function borrow<T>({ pool, breaker }: Server, use: (client: PoolClient) => Promise<T>): Promise<T> {
  return breaker.run(async (call) => {
    const client = await connect(pool).catch(suspecting(breaker))
    let isSuspect = call.isOver
    try {
      if (call.isOver) throw new DatabaseError('unavailable', 'the connection came too late')
      return await use(client)
    } catch (error) {
      isSuspect = error instanceof DatabaseError && error.reason === 'unavailable'
      if (isSuspect) breaker.suspect()
      throw error
    } finally {
      client.release(isSuspect || client.getTransactionStatus() !== 'I')
    }
  })
}

const committed =
  (breaker: DatabaseBreaker) =>
  <T>(value: T): T => {
    breaker.committed()
    return value
  }

const suspecting =
  (breaker: DatabaseBreaker) =>
  (error: unknown): never => {
    breaker.suspect()
    throw error
  }

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw fromPostgres(error)
  }
}
