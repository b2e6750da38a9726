import { Pool, type PoolClient } from 'pg'
import { systemClock, type Clock } from '../../../../base/clock.ts'
import {
  DatabaseError,
  type Database,
  type DatabaseRow,
  type Statement,
  type Transaction,
  type Value,
} from '../database.ts'
import { fromPostgres, isConnectionLost, isUndoneByServer } from '../errors.ts'
import { createDrainLatch } from '../drain-latch.ts'
import { createReportSlots } from '../report-slots.ts'
import { createDatabaseBreaker, type DatabaseBreaker, type DatabaseBreakerParts } from './breaker.ts'
import { createPool, type PostgresOptions, type ReportOptions } from './pool.ts'
import { connect, createSession, execute, runInTwoParts, runStep } from './session.ts'
import { runTransaction } from '../transaction.ts'
import { probeStatements } from '../write-probe.ts'
import { createWriteTimer } from '../write-timer.ts'

/** Attempts for a step that the server rolled back because of a deadlock. */
const maxAttempts = 3

/** The longest a caller waits for a hanging server. */
const defaultAnswerTimeoutMs = 1_000

/** The engine for several nodes. Rejects if the server cannot be reached. */
export async function openPostgres(options: PostgresOptions & ReportOptions): Promise<Database> {
  const { pool, breakAll } = createPool(options)
  await using opened = new AsyncDisposableStack()
  opened.defer(() => pool.end())
  await withConnection({ pool, breaker: noBreaker }, async () => undefined)
  const reports = createReports(options)
  opened.defer(() => reports.end())
  const { url, answerTimeoutMs = defaultAnswerTimeoutMs } = options
  const onOpen = (): void => {
    breakAll()
    reports.onServerHangs()
  }
  const guard = { url, answerTimeoutMs, clock: systemClock, onOpen }
  const breaker = answerTimeoutMs === 0 ? noBreaker : await createBreakerWithProbe(opened, guard)
  const server = { pool, breaker }
  const latch = createDrainLatch()
  const writes = createWriteTimer()
  opened.defer(() => latch.close())
  const resources = opened.move()
  return {
    engine: 'postgres',
    read: (sql, params) => latch.enter(() => read(server, sql, params)),
    report: (sql, params = []) => latch.enter(() => reports.run(breaker, { sql, params })),
    write: (statements) => latch.enter(() => writes.time(retried(server, (client) => runStep(client, statements)))),
    writeAfter: (first, next) =>
      latch.enter(() => writes.time(retried(server, (client) => runInTwoParts(client, first, next)))),
    transaction: (work) =>
      latch.enter(() =>
        withConnection(server, (client) => runTransaction(createSession(client), work).then(committed(breaker))),
      ),
    figures: () => ({
      requests: { running: pool.totalCount - pool.idleCount, waiting: pool.waitingCount },
      reports: reports.figures(),
      writes: writes.figures(),
    }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

type BreakerOptions = { readonly url: string } & Omit<DatabaseBreakerParts, 'probe'>

type Server = { readonly pool: Pool; readonly breaker: DatabaseBreaker }

const noBreaker: DatabaseBreaker = {
  run: (work) => work({ isOver: false }),
  suspect() {},
  committed() {},
  [Symbol.dispose]() {},
}

async function createBreakerWithProbe(opened: AsyncDisposableStack, guard: BreakerOptions): Promise<DatabaseBreaker> {
  const { url, ...parts } = guard
  const probe = opened.use(createProbe({ url, timeoutMs: parts.answerTimeoutMs, clock: parts.clock }))
  // Connect the probe now, because a new connection may take longer than the answer timeout.
  await probe.send().catch(() => undefined)
  return opened.use(createDatabaseBreaker({ ...parts, probe: probe.send }))
}

/**
 * Reports have connections of their own and no circuit breaker, so that slow ones neither take a connection from requests nor
 * make the server look unavailable. Nothing connects before the first report, so the node starts without the replica.
 */
function createReports(options: PostgresOptions & ReportOptions) {
  const { url, reportsUrl = url, reportsPoolSize = 4, reportTimeoutMs = 10_000 } = options
  const connections = { url: reportsUrl, poolSize: reportsPoolSize, statementTimeoutMs: reportTimeoutMs }
  const { pool, breakAll } = createPool({ ...options, ...connections })
  const slots = createReportSlots({ most: reportsPoolSize, waitMs: reportTimeoutMs })
  const isSameServer = reportsUrl === url
  return {
    run: <R extends DatabaseRow>(breaker: DatabaseBreaker, { sql, params }: Statement): Promise<R[]> =>
      slots.run(async () => {
        if (isSameServer) await breaker.run(async () => undefined) // rejects while the breaker is open
        return await read<R>({ pool, breaker: noBreaker }, sql, params)
      }),
    figures: slots.figures,
    onServerHangs: () => void (isSameServer && breakAll()),
    end: () => pool.end(),
  }
}

/** Connections for reports of another thread. Nothing connects before the first one. */
export function openReportReads(options: PostgresOptions): Pick<Transaction, 'query'> & AsyncDisposable {
  const { pool } = createPool(options)
  return {
    query: (sql, params) => read({ pool, breaker: noBreaker }, sql, params),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

/**
 * Retries once on another connection, because the first may have broken while it was idle in the pool, and because a replica cancels a
 * read that conflicts with a change from the primary.
 */
async function read<R extends DatabaseRow>(server: Server, sql: string, params: readonly Value[] = []): Promise<R[]> {
  const once = () => withConnection(server, async (client) => (await execute(client, { sql, params })).rows as R[])
  try {
    return await once()
  } catch (error) {
    const mayPass = error instanceof DatabaseError && (isConnectionLost(error.cause) || isUndoneByServer(error.cause))
    if (!mayPass) throw error
    return await once()
  }
}

/** Retries only if the server reports that it rolled the step back. After a lost connection the outcome is unknown. */
async function retried<T>(server: Server, run: (client: PoolClient) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withConnection(server, (client) => run(client).then(committed(server.breaker)))
    } catch (error) {
      const isSafe = error instanceof DatabaseError && isUndoneByServer(error.cause)
      if (!isSafe || attempt === maxAttempts) throw error
    }
  }
}

/** Runs `use` with a pooled connection. A connection that may be broken, or is still in a transaction, is closed afterwards. */
function withConnection<T>({ pool, breaker }: Server, use: (client: PoolClient) => Promise<T>): Promise<T> {
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

type ProbeParts = { readonly url: string; readonly timeoutMs: number; readonly clock: Pick<Clock, 'after'> }

type Probe = AsyncDisposable & {
  /** Resolves if the server commits or reports an error. Rejects if it does not answer. */
  send(): Promise<void>
}

/** After this delay or a failure the probe is also sent on a second connection, because the first may have broken while idle. */
const secondAttemptMs = 150

/**
 * Two connections outside of the pool, which may be exhausted by hanging calls. The first one stays open. The probe commits,
 * because a server whose commits hang, as without its synchronous standby, counts as hanging even if it answers reads.
 */
function createProbe({ url, timeoutMs, clock }: ProbeParts): Probe {
  const pool = new Pool({
    connectionString: url,
    fallback_application_name: 'gatehouse probe',
    max: 2,
    min: 1,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
  })
  pool.on('error', () => undefined)

  async function sendOnce(): Promise<void> {
    try {
      await pool.query(probeStatements.postgres)
    } catch (error) {
      const failure = fromPostgres(error)
      if (failure.reason === 'unavailable') throw failure
    }
  }

  return {
    async send() {
      const begin = Promise.withResolvers<void>()
      const cancel = clock.after(secondAttemptMs, begin.resolve)
      const first = sendOnce()
      first.catch(() => begin.resolve())
      try {
        await Promise.any([first, begin.promise.then(sendOnce)])
      } catch (error) {
        throw error instanceof AggregateError ? error.errors.at(-1) : error
      } finally {
        cancel()
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
