import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { hasReason } from '../support/database-errors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const insert = { sql: 'insert into item (body) values ($1)', params: ['x'] }

describe('SQLite with faults', () => {
  // A kill cannot test this, because data in the kernel survives it; only a loss of power would show it.
  it('waits for the disk at every commit', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path })
    const [log, waits] = await database.transaction(async (tx) => [
      await tx.query('pragma journal_mode'),
      await tx.query('pragma synchronous'),
    ])
    assert.deepEqual(log, [{ journal_mode: 'wal' }])
    assert.deepEqual(waits, [{ synchronous: 2 }]) // full
  })

  it('rejects what is pending and all that follows when its thread dies', async () => {
    await using folder = await temporaryFolder()
    const started = once(process, 'worker')
    await using database = await openSqlite({ dataDir: folder.path })
    const [worker]: Worker[] = await started
    await createItems(database)
    const transaction = database.transaction(async (tx) => {
      await tx.query('select 1 as one')
      void worker?.terminate()
      await tx.query('select 1 as one')
    })
    const queued = database.write([insert])
    await assert.rejects(transaction, hasReason('unavailable'))
    await assert.rejects(queued, hasReason('unavailable'))
    await assert.rejects(database.read('select 1 as one'), hasReason('unavailable'))
    await assert.rejects(database.write([insert]), hasReason('unavailable'))
  })

  it('reports unavailable while another process holds the file, and continues afterwards', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path, busyTimeoutMs: 10 })
    await createItems(database)
    const other = new DatabaseSync(join(folder.path, 'gatehouse.db'))
    other.exec('begin immediate')
    await assert.rejects(database.write([insert]), hasReason('unavailable'))
    await assert.rejects(
      database.transaction((tx) => tx.run(insert.sql, insert.params)),
      hasReason('unavailable'),
    )
    assert.equal(await countItems(database), 0)
    other.close()
    await database.write([insert])
    assert.equal(await countItems(database), 1)
  })

  it('rejects every step of a group whose commit fails, and continues with the next', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path })
    await createItems(database)
    const deferred = 'create table late (item_id integer references item (id) deferrable initially deferred) strict'
    await database.write([{ sql: deferred }])
    const violation = { sql: 'insert into late (item_id) values (77)' } // detected by the commit
    const outcomes = await Promise.allSettled(
      [insert, violation, insert].map((statement) => database.write([statement])),
    )
    assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && hasReason('foreign_key')(outcome.reason)))
    assert.equal(await countItems(database), 0)
    await database.write([insert])
    assert.equal(await countItems(database), 1)
  })

  it('reports unavailable if the folder is missing or the file is not a database', async () => {
    await using folder = await temporaryFolder()
    await assert.rejects(openSqlite({ dataDir: join(folder.path, 'missing') }), hasReason('unavailable'))
    await writeFile(join(folder.path, 'gatehouse.db'), 'This is a letter to my grandmother. '.repeat(100))
    await assert.rejects(openSqlite({ dataDir: folder.path }), hasReason('unavailable'))
  })

  it('migrates once when two processes start on one file', async () => {
    await using folder = await temporaryFolder()
    const migrations = await readMigrations(new URL('../../migrations', import.meta.url).pathname)
    await using first = await openSqlite({ dataDir: folder.path })
    await using second = await openSqlite({ dataDir: folder.path })
    const counts = await Promise.all([migrate(first, migrations), migrate(second, migrations)])
    assert.equal(counts[0] + counts[1], migrations.length)
  })
})

async function createItems(database: Database): Promise<void> {
  await database.write([{ sql: 'create table item (id integer primary key, body text) strict' }])
}

async function countItems(database: Database): Promise<number> {
  const [row] = await database.read<{ count: number }>('select count(*) as count from item')
  return row?.count ?? 0
}
