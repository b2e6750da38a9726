import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { readBackup, restoreBackup, writeBackup } from '../../src/adapters/stores/sql/sqlite/backup.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const migrationsDir = new URL('../../migrations', import.meta.url).pathname
/** Nothing is committed by the clock during a test. */
const longPending = { hasRedoLog: true, flushAfterMs: 600_000 }
const insert = (id: string) => ({ sql: 'insert into item (id) values ($1)', params: [id] })
const count = { sql: 'update total set items = items + 1', expect: 1 }

describe('SQLite with a redo log', () => {
  it('reads what was acknowledged before it is committed', async () => {
    await using scene = await openScene()
    await scene.database.write([insert('a'), count])
    assert.deepEqual(await itemsOf(scene.database), ['a'])
    await using copy = await scene.copy()
    assert.deepEqual(await copy.recover(), ['a'])
  })

  it('has every acknowledged step once, whichever of steps, failures and transactions came before a crash', async () => {
    const action = fc.constantFrom('step', 'step', 'step', 'failing step', 'transaction', 'failing transaction', 'read')
    await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), crashAfter), { numRuns: 10 })
  })

  it('repeats nothing of a log that was committed before the crash, or that belongs to another state', async () => {
    await using scene = await openScene()
    await scene.database.write([insert('a'), count])
    const pending = readFileSync(join(scene.path, 'gatehouse.db-redo'))
    await act(scene.database, 'transaction', 'b') // commits the step before it
    await using committed = await scene.copy()
    writeFileSync(join(committed.path, 'gatehouse.db-redo'), pending)
    assert.deepEqual(await committed.recover(), ['a', 'b'])
    writeFileSync(join(committed.path, 'gatehouse.db-redo'), pending) // of a process before the last one
    assert.deepEqual(await committed.recover(), ['a', 'b'])
  })

  it('leaves no log behind when it is closed', async () => {
    await using scene = await openScene()
    await scene.database.write([insert('a'), count])
    await using copy = await scene.copy()
    assert.deepEqual(await copy.recover(), ['a'])
    assert.deepEqual(readdirSync(copy.path), ['gatehouse.db'])
  })
})

describe('a backup of a database with a redo log', () => {
  const manifest = { createdAtMs: 1, version: '0', secretCheck: '', secretFiles: {} }
  const organization = `insert into organization (id, name, changed_at, created_at) values ('org_1', 'One', 1, 1)`

  it('has the steps that are acknowledged and not committed yet', async () => {
    await using folder = await temporaryFolder()
    await using database = await openSqlite({ dataDir: folder.path, ...longPending })
    await migrate(database, await readMigrations(migrationsDir))
    await database.write([{ sql: organization }])
    const file = join(folder.path, 'copy.backup')
    assert.equal((await writeBackup(folder.path, file, manifest)).organizations, 1)
    assert.equal(readBackup(file).organizations, 1)
  })

  it('replaces the log together with the database when it is restored', async () => {
    await using folder = await temporaryFolder()
    const [dataDir, replacedDir] = [join(folder.path, 'data'), join(folder.path, 'replaced')]
    const file = join(folder.path, 'copy.backup')
    mkdirSync(dataDir)
    await using database = await openSqlite({ dataDir, ...longPending })
    await migrate(database, await readMigrations(migrationsDir))
    await writeBackup(dataDir, file, manifest)
    await database.write([{ sql: organization }]) // stays in the log, as after a crash
    await restoreBackup(file, { dataDir, replacedDir })
    assert.deepEqual(readdirSync(dataDir), ['gatehouse.db'])
    assert.ok(readdirSync(replacedDir).includes('gatehouse.db-redo'))
    await using restored = await openSqlite({ dataDir, hasRedoLog: true })
    assert.deepEqual(await restored.read('select id from organization'), [])
  })
})

it('no migration defers a constraint, because a commit could fail after its steps were acknowledged', async () => {
  const migrations = await readMigrations(migrationsDir)
  assert.deepEqual(
    migrations.filter(({ sql }) => /\bdeferr/i.test(sql)).map(({ name }) => name),
    [],
  )
})

type Action = 'step' | 'failing step' | 'transaction' | 'failing transaction' | 'read'

async function crashAfter(actions: readonly Action[]): Promise<void> {
  await using scene = await openScene()
  const acknowledged: string[] = []
  for (const [at, action] of actions.entries()) {
    const id = String(at).padStart(3, '0')
    if (await act(scene.database, action, id)) acknowledged.push(id)
  }
  assert.deepEqual(await itemsOf(scene.database), acknowledged)
  await using copy = await scene.copy()
  assert.deepEqual(await copy.recover(), acknowledged)
  assert.deepEqual(await copy.recover(), acknowledged)
}

/** True if the action added an item. */
async function act(database: Database, action: Action, id: string): Promise<boolean> {
  const isFailing = action.startsWith('failing')
  const work =
    action === 'read'
      ? itemsOf(database).then(() => false)
      : action.endsWith('step')
        ? database.write([insert(id), count, ...(isFailing ? [insert(id)] : [])]).then(() => true)
        : database.transaction(async (tx) => {
            for (const { sql, params } of [insert(id), { ...count, params: [] }]) await tx.run(sql, params)
            if (isFailing) throw new Error('undone')
            return true
          })
  return work.catch((error: unknown) => {
    assert.ok(isFailing, String(error))
    return false
  })
}

/** A database, and copies of its folder as a crash of the process would leave it. */
async function openScene() {
  await using opened = new AsyncDisposableStack()
  const { path } = opened.use(await temporaryFolder())
  const database = opened.use(await openSqlite({ dataDir: path, ...longPending }))
  await database.write([{ sql: 'create table item (id text primary key) strict' }])
  await database.write([{ sql: 'create table total (items integer not null) strict' }])
  await database.write([{ sql: 'insert into total (items) values (0)' }])
  const kept = opened.move()
  return {
    path,
    database,
    async copy() {
      const folder = await temporaryFolder()
      cpSync(path, folder.path, { recursive: true })
      return { ...folder, recover: () => recover(folder.path) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function recover(dataDir: string): Promise<string[]> {
  await using database = await openSqlite({ dataDir, hasRedoLog: true })
  const [total] = await database.read<{ items: number }>('select items from total')
  const items = await itemsOf(database)
  assert.equal(total?.items, items.length)
  return items
}

async function itemsOf(database: Database): Promise<string[]> {
  const rows = await database.read<{ id: string }>('select id from item order by id')
  return rows.map(({ id }) => id)
}
