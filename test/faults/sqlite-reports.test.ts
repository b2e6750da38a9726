import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { hasReason } from '../support/database-errors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const createItems = { sql: 'create table item (id text primary key) strict' }
const insert = (id: string) => ({ sql: 'insert into item (id) values ($1)', params: [id] })
const items = 'select id from item order by id'

/** Takes long without a table. */
const countTo = (last: number): string =>
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${last})
   select count(*) as count from numbers`

/** Resolves once the next message to the thread is on its way. */
function sending(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const post = worker.postMessage.bind(worker)
  worker.postMessage = (message: unknown) => {
    post(message)
    resolve()
  }
  return promise
}

describe('reports on SQLite', () => {
  it('see the groups that are acknowledged and not committed yet', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path, hasRedoLog: true, flushAfterMs: 600_000 })
    await database.write([createItems])
    await database.write([insert('a')])
    assert.deepEqual(await database.report(items), [{ id: 'a' }])
    const pending = database.write([insert('b')], { waitsForDisk: false })
    await pending
    assert.deepEqual(await database.report(items), [{ id: 'a' }, { id: 'b' }])
  })

  it('start their thread with the first report, and another one after it died', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path })
    const started = once(process, 'worker')
    await database.report('select 1 as one')
    const [worker]: Worker[] = await started
    assert.ok(worker)
    const sent = sending(worker)
    const running = database.report(countTo(3_000_000))
    const waiting = database.report('select 2 as two')
    await sent // the first of the two
    void worker.terminate()
    await assert.rejects(running, hasReason('unavailable'))
    assert.deepEqual(await waiting, [{ two: 2 }])
  })

  it('are rejected while two of them are still inside a statement after their deadline', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path, reportTimeoutMs: 200 })
    await database.write([createItems])
    const threads: Worker[] = []
    const remember = (worker: Worker): void => void threads.push(worker)
    process.on('worker', remember)
    const ended = Promise.withResolvers<void>()
    for (const last of [8_000_000, 8_000_000]) {
      await assert.rejects(database.report(countTo(last)), hasReason('timeout'))
      threads.at(-1)?.once('exit', () => ended.resolve())
    }
    await assert.rejects(database.report(items), hasReason('timeout'))
    assert.equal(threads.length, 2)
    await database.write([insert('a')])
    await ended.promise
    process.off('worker', remember)
    assert.deepEqual(await database.report(items), [{ id: 'a' }])
  })

  it('leave no write-ahead log behind when the database is closed', async () => {
    await using folder = await temporaryFolder()
    const database = await openSqlite({ dataDir: folder.path, hasRedoLog: true })
    await database.write([createItems])
    await database.write([insert('a')])
    await database.report(items)
    await database[Symbol.asyncDispose]()
    assert.deepEqual(readdirSync(folder.path), ['gatehouse.db'])
  })

  it('keep the write-ahead log bounded, although one report follows the other', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path, hasRedoLog: true, flushAfterMs: 1 })
    await database.write([{ sql: 'create table body (id integer primary key, text text) strict' }])
    const text = 'x'.repeat(100_000)
    let isOver = false
    const reporting = async (): Promise<void> => {
      while (!isOver) await database.report('select count(*) as count, max(length(text)) as longest from body')
    }
    const reports = Promise.all([reporting(), reporting()])
    const insertBody = 'insert into body (id, text) values ($1, $2)'
    for (let id = 0; id < 500; id++) await database.write([{ sql: insertBody, params: [id, text] }])
    isOver = true
    await reports
    assert.ok(statSync(join(folder.path, 'gatehouse.db-wal')).size < 40_000_000) // of 54 MB that were written
  })
})
