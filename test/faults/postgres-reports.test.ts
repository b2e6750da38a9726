import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { hasReason } from '../support/database-errors.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const sleep = (seconds: number): string => `select 1 as done from pg_sleep(${seconds})`
const increment = { sql: "update counter set value = value + 1 where id = 'a'" }
const counter = "select value from counter where id = 'a'"
const createCounter = [
  { sql: 'create table counter (id text primary key, value bigint not null)' },
  { sql: "insert into counter (id, value) values ('a', 0)" },
]

describe('reports on PostgreSQL', { skip: withoutPostgres, timeout: 60_000 }, () => {
  it('take no connection from others, however many of them run', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openPostgres({ url: scratch.url, poolSize: 2, reportsPoolSize: 2 })
    await database.write(createCounter)
    const order: string[] = []
    const reports = Array.from({ length: 10 }, () => database.report(sleep(0.5)).then(() => order.push('report')))
    await database.write([increment])
    await database.transaction((tx) => tx.run(increment.sql))
    assert.deepEqual(await database.read(counter), [{ value: 2 }])
    order.push('others')
    await Promise.all(reports)
    assert.equal(order[0], 'others')
  })

  it('end with timeout if they run or wait too long, and the next ones work', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openPostgres({ url: scratch.url, reportsPoolSize: 1, reportTimeoutMs: 700 })
    const reports = [database.report(sleep(600)), database.report(sleep(600))]
    await Promise.all(reports.map((report) => assert.rejects(report, hasReason('timeout'))))
    assert.deepEqual(await database.report(sleep(0)), [{ done: 1 }])
  })

  it('do not open the circuit breaker while they are slow', async () => {
    await using scratch = await createScratchDatabase()
    await using database = await openPostgres({ url: scratch.url, answerTimeoutMs: 200 })
    const report = database.report(sleep(1))
    await assert.doesNotReject(database.read('select 1 as one'))
    assert.deepEqual(await report, [{ done: 1 }])
    await assert.doesNotReject(database.read('select 1 as one'))
  })

  it('read from their replica, without which everything else works', async () => {
    await using scratch = await createScratchDatabase()
    const url = new URL(scratch.url)
    await using replica = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.hostname = '127.0.0.1'
    url.port = String(replica.port)
    const options = { url: scratch.url, reportsUrl: url.href, connectTimeoutMs: 500, reportTimeoutMs: 1_000 }
    await using database = await openPostgres(options)
    await database.write(createCounter)
    assert.deepEqual(await database.report(counter), [{ value: 0 }])
    replica.pause()
    const report = database.report(counter)
    await database.write([increment])
    assert.deepEqual(await database.read(counter), [{ value: 1 }])
    await assert.rejects(report, hasReason('unavailable'))
    replica.resume()
    while (!(await database.report(counter).catch(() => undefined))) await new Promise((r) => setTimeout(r, 20))
  })

  it('do not keep a node from starting whose replica is down', async () => {
    await using scratch = await createScratchDatabase()
    const replica = await startTcpProxy({ host: '127.0.0.1', port: 1 })
    const reportsUrl = `postgres://127.0.0.1:${replica.port}/nothing`
    await replica[Symbol.asyncDispose]()
    await using database = await openPostgres({ url: scratch.url, reportsUrl })
    await assert.rejects(database.report('select 1 as one'), hasReason('unavailable'))
    assert.deepEqual(await database.read('select 1 as one'), [{ one: 1 }])
  })
})
