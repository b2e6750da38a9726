import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { hasReason } from '../support/database-errors.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const increment = { sql: "update counter set value = value + 1 where id = 'a'" }

describe('PostgreSQL with faults', { skip: withoutPostgres, timeout: 60_000 }, () => {
  it('reports unavailable if the backend is killed in a transaction, and continues with another connection', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openWithCounters(scratch.url)
    await using other = await openPostgres({ url: scratch.url })
    const transaction = database.transaction(async (tx) => {
      await tx.run(increment.sql)
      await killBackend(other, await backendOf(tx))
      await tx.run(increment.sql)
    })
    await assert.rejects(transaction, hasReason('unavailable'))
    assert.equal(await readCounter(database), 0)
    await database.write([increment])
    assert.equal(await readCounter(database), 1)
  })

  it('continues after all its idle connections were killed', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openWithCounters(scratch.url)
    await Promise.all(Array.from({ length: 5 }, () => readCounter(database)))
    await using other = await openPostgres({ url: scratch.url })
    await other.read(
      'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    assert.equal(await readCounter(database), 0)
    await database.write([increment])
    assert.equal(await readCounter(database), 1)
  })

  it('repeats a read on another connection if the first one is dead', async () => {
    await using behind = await openBehindProxy()
    await readCounter(behind.database)
    behind.proxy.breakOnNextRequest()
    assert.equal(await readCounter(behind.database), 0)
  })

  it('does not repeat a write if its connection is dead', async () => {
    await using behind = await openBehindProxy()
    behind.proxy.breakOnNextRequest()
    await assert.rejects(behind.database.write([increment]), hasReason('unavailable'))
    await untilAnswered(behind.database) // the breaker may have opened
    assert.equal(await readCounter(behind.database), 0)
  })

  it('does a write at most once if the response is lost', async () => {
    await using behind = await openBehindProxy()
    await using direct = await openPostgres({ url: behind.directUrl })
    behind.proxy.swallowAnswers()
    const outcome = assert.rejects(behind.database.write([increment]), hasReason('unavailable'))
    while ((await readCounter(direct)) === 0); // until the server has done it
    behind.proxy.cut()
    await outcome
    assert.equal(await readCounter(behind.database), 1)
  })

  it('gives up a statement that the server does not answer', async () => {
    await using behind = await openBehindProxy({ statementTimeoutMs: 1_000, answerTimeoutMs: 0 })
    behind.proxy.swallowAnswers()
    await assert.rejects(behind.database.read('select 1 as one'), hasReason('unavailable'))
    behind.proxy.cut()
    assert.equal(await readCounter(behind.database), 0)
  })

  it('gives up all running and waiting statements if the server hangs, and recovers', async () => {
    await using behind = await openBehindProxy({ ...patient, poolSize: 2, answerTimeoutMs: 300 })
    const { database, proxy } = behind
    await readCounter(database)
    proxy.pause()
    const calls = [
      database.read('select 1 as one'),
      database.transaction((tx) => tx.query('select 1 as one')),
      database.write([increment]),
      database.read('select 1 as one'),
    ]
    for (const call of calls) await assert.rejects(call, hasReason('unavailable'))
    // No call waits for a server that hangs: each of these would take ten minutes.
    for (let count = 0; count < 20; count++) await assert.rejects(database.write([increment]), hasReason('unavailable'))
    proxy.resume()
    await untilAnswered(database)
    assert.ok((await readCounter(database)) <= 1) // the running write may have been made, the later ones not
    await database.write([increment])
  })

  it('starts no statement whose caller already got an error', async () => {
    await using behind = await openBehindProxy({ ...patient, poolSize: 1, answerTimeoutMs: 300 })
    const { database, proxy } = behind
    proxy.pause()
    const holding = database.read('select 1 as one')
    const waiting = database.write([increment]) // for the one connection
    await assert.rejects(holding, hasReason('unavailable'))
    await assert.rejects(waiting, hasReason('unavailable'))
    proxy.resume()
    await untilAnswered(database)
    await Promise.all([readCounter(database), readCounter(database)])
    assert.equal(await readCounter(database), 0)
  })

  it('does not treat a long statement as a server that hangs', async () => {
    await using behind = await openBehindProxy({ answerTimeoutMs: 300 })
    const slow = behind.database.read<{ done: number }>('select 1 as done from pg_sleep(1.5)')
    const quick = await readCounter(behind.database)
    assert.deepEqual([await slow, quick], [[{ done: 1 }], 0])
  })

  it('ends a statement that takes too long', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openWithCounters(scratch.url, { statementTimeoutMs: 1_000 })
    await assert.rejects(database.read('select pg_sleep(600)'), hasReason('timeout'))
    assert.equal(await readCounter(database), 0)
  })

  it('reports unavailable while every connection is in use, and works again when one is free', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openWithCounters(scratch.url, { poolSize: 1, connectTimeoutMs: 1_000 })
    await database.transaction(async () => {
      await assert.rejects(database.read('select 1 as one'), hasReason('unavailable'))
      await assert.rejects(database.write([increment]), hasReason('unavailable'))
    })
    await database.write([increment])
    assert.equal(await readCounter(database), 1)
  })

  it('tries a step three times if the server rolls it back to end a deadlock', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openWithCounters(scratch.url)
    await undoUpdates(database, 2)
    await database.write([increment])
    assert.equal(await readCounter(database), 1)
    await undoUpdates(database, 3)
    await assert.rejects(database.write([increment]), hasReason('unavailable'))
    assert.equal(await readCounter(database), 1)
  })
})

describe('no PostgreSQL', () => {
  it('reports unavailable if nothing listens', async () => {
    await assert.rejects(
      openPostgres({ url: `postgres://127.0.0.1:${await closedPort()}/nothing` }),
      hasReason('unavailable'),
    )
  })

  it('reports unavailable if the server never answers', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `postgres://127.0.0.1:${portOf(silent.address())}/nothing`
    await assert.rejects(openPostgres({ url, connectTimeoutMs: 50 }), hasReason('unavailable'))
    silent.close()
  })
})

/** So long that a test that waits for them fails. */
const patient = { statementTimeoutMs: 600_000, connectTimeoutMs: 600_000 }

async function untilAnswered(database: Database): Promise<void> {
  while (!(await database.read('select 1 as one').catch(() => undefined))) await new Promise((r) => setTimeout(r, 20))
}

type Options = Omit<Parameters<typeof openPostgres>[0], 'url'>

async function openWithCounters(url: string, options: Options = {}): Promise<Database> {
  const database = await openPostgres({ url, ...options })
  await database.write([
    { sql: 'create table counter (id text primary key, value bigint not null)' },
    { sql: "insert into counter (id, value) values ('a', 0)" },
  ])
  return database
}

async function openBehindProxy(options: Options = {}) {
  await using owned = new AsyncDisposableStack()
  const { url: directUrl } = owned.use(await createScratchDatabase())
  const url = new URL(directUrl)
  const proxy = owned.use(await startTcpProxy({ host: url.hostname, port: Number(url.port) }))
  url.hostname = '127.0.0.1'
  url.port = String(proxy.port)
  const database = owned.use(await openWithCounters(url.href, options))
  const kept = owned.move()
  return { proxy, database, directUrl, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

async function readCounter(database: Database): Promise<number> {
  const [row] = await database.read<{ value: number }>("select value from counter where id = 'a'")
  return row?.value ?? Number.NaN
}

async function backendOf(tx: Parameters<Parameters<Database['transaction']>[0]>[0]): Promise<number> {
  const [row] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
  return row?.pid ?? 0
}

/** Resolves once it is gone. */
async function killBackend(database: Database, pid: number): Promise<void> {
  await database.read('select pg_terminate_backend($1, 10000)', [pid])
}

/** Makes the next updates fail like those of a deadlock victim, which PostgreSQL would choose at random. */
async function undoUpdates(database: Database, times: number): Promise<void> {
  await database.write([
    { sql: 'drop sequence if exists tries' },
    { sql: 'create sequence tries' }, // keeps counting when a transaction is rolled back
    {
      sql: `create or replace function fail_at_first() returns trigger language plpgsql as $$ begin
              if nextval('tries') <= ${times} then raise exception 'deadlock detected' using errcode = '40P01'; end if;
              return new;
            end $$`,
    },
    { sql: 'drop trigger if exists fail_at_first on counter' },
    { sql: 'create trigger fail_at_first before update on counter for each row execute function fail_at_first()' },
  ])
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server.address())
  server.close()
  await once(server, 'close')
  return port
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
