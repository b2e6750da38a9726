import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { migrationTable, type Migration } from '../migrate.ts'
import { openCopySource } from './source.ts'

const migration = (number: number, sql: string): Migration => ({ number, name: `step_${number}`, checksum: '', sql })

const migrations = [
  migration(1, 'create table child (id TEXT primary key, parent_id TEXT references parent (id)) STRICT'),
  migration(2, 'create table parent (id TEXT primary key, amount INTEGER, data BLOB) STRICT'),
  migration(3, 'create table pair (b TEXT, a TEXT, primary key (a, b)) STRICT, WITHOUT ROWID'),
]

/** A database file with the first migrations, and what `sql` adds. */
async function createFile({ applied = migrations, sql = '' } = {}) {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'gatehouse.db')
  using database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal')
  database.exec(migrationTable)
  for (const each of applied) database.exec(each.sql)
  const record = database.prepare('insert into migration values (?, ?, ?, 0)')
  for (const { number, name, checksum } of applied) record.run(number, name, checksum)
  database.exec(sql)
  return { folder: folder.path, file, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

describe('the source of a copy', () => {
  it('lists every table of the schema, each after those that it references', async () => {
    await using created = await createFile({ sql: 'create table redo_position (log_id INTEGER, sequence INTEGER)' })
    using source = await openCopySource(created.file, migrations)
    assert.deepEqual(
      source.tables.map(({ name }) => name),
      ['pair', 'parent', 'child'],
    )
  })

  it('reads rows in an order of its own, from any of them', async () => {
    const sql = `insert into pair (a, b) values ('2', 'x'), ('1', 'z'), ('1', 'y');
      insert into parent values ('b', 9007199254740993, x'00ff'), ('a', null, null)`
    await using created = await createFile({ sql })
    using source = await openCopySource(created.file, migrations)
    const [pair, parent] = source.tables
    assert.ok(pair && parent)
    const bytes = [...source.rows(parent, 0)].map((row) =>
      row.map((value) => (value instanceof Uint8Array ? [...value] : value)),
    )
    assert.deepEqual(bytes, [
      ['b', 9_007_199_254_740_993n, [0, 255]],
      ['a', null, null],
    ])
    assert.deepEqual(
      [...source.rows(pair, 1)],
      [
        ['z', '1'],
        ['x', '2'],
      ],
    )
  })

  it('creates no file, and has another digest after a change', async () => {
    await using created = await createFile()
    const files = readdirSync(created.folder)
    const digestOf = async (): Promise<string> => {
      using source = await openCopySource(created.file, migrations)
      assert.deepEqual(readdirSync(created.folder), files)
      return source.digest
    }
    const before = await digestOf()
    assert.equal(await digestOf(), before)
    {
      using database = new DatabaseSync(created.file)
      database.exec(`insert into parent (id) values ('new')`)
    }
    assert.notEqual(await digestOf(), before)
  })

  it('may be of an earlier version, but not of a later one', async () => {
    await using created = await createFile({ applied: migrations.slice(0, 2) })
    using source = await openCopySource(created.file, migrations)
    assert.equal(source.lastMigration, 2)
    assert.equal(source.tables.length, 2)
    await assert.rejects(openCopySource(created.file, migrations.slice(0, 1)), /newer than this program/)
  })

  it('is rejected if its server did not stop regularly', async () => {
    const sql = `create table redo_position (log_id INTEGER, sequence INTEGER); insert into redo_position values (1, 0)`
    await using crashed = await createFile({ sql })
    await assert.rejects(openCopySource(crashed.file, migrations), /did not stop regularly/)
    await using logged = await createFile()
    writeFileSync(`${logged.file}-wal`, 'a write-ahead log')
    await assert.rejects(openCopySource(logged.file, migrations), /did not stop regularly/)
  })

  it('is rejected if it has a table that no migration creates', async () => {
    await using created = await createFile({ sql: 'create table foreigner (id TEXT)' })
    await assert.rejects(openCopySource(created.file, migrations), /its table foreigner is not the one of its version/)
  })

  it('is rejected if it is no database, or missing', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'gatehouse.db')
    await assert.rejects(openCopySource(file, migrations), /There is no file/)
    writeFileSync(file, 'not a database '.repeat(1_000))
    await assert.rejects(openCopySource(file, migrations), /gatehouse\.db is damaged: file is not a database/)
  })

  it('notices a write after it was opened', async () => {
    await using created = await createFile()
    using source = await openCopySource(created.file, migrations)
    source.assertUnchanged()
    writeFileSync(created.file, 'x', { flag: 'a' })
    assert.throws(() => source.assertUnchanged(), /was changed while it was copied/)
  })
})
