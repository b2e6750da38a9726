import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations, type Migration } from '../../src/adapters/stores/sql/migrate.ts'
import type { ContractOptions } from './database.contract.ts'

const first = migration(1, 'create table a (id TEXT primary key, at INTEGER not null) STRICT')
const second = migration(2, `create table b (id INTEGER primary key) STRICT; insert into b (id) values (1);`)
const broken = migration(3, 'create table c (id TEXT primary key) STRICT; insert into nowhere (id) values (1)')

/** The contract of migrations on every engine. `open` creates an empty database. */
export function migrateContract(name: string, open: () => Promise<Database>, options: ContractOptions = {}): void {
  describe(`migrations: ${name}`, { skip: options.skip ?? false }, () => {
    it('applies each once, in order', async () => {
      await using database = await open()
      assert.equal(await migrate(database, [first]), 1)
      assert.equal(await migrate(database, [first, second]), 1)
      assert.equal(await migrate(database, [first, second]), 0)
      assert.deepEqual(await database.read('select id from b'), [{ id: 1 }])
      assert.deepEqual(await database.read('select number, name from migration order by number'), [
        { number: 1, name: 'test_1' },
        { number: 2, name: 'test_2' },
      ])
    })

    it('applies each once if many nodes start at once', async () => {
      await using database = await open()
      const counts = await Promise.all(Array.from({ length: 6 }, () => migrate(database, [first, second])))
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        2,
      )
      assert.deepEqual(await database.read('select id from b'), [{ id: 1 }])
    })

    it('rolls back a migration that fails, and keeps those before it', async () => {
      await using database = await open()
      await assert.rejects(migrate(database, [first, second, broken]), /nowhere/)
      await assert.rejects(database.read('select id from c'))
      assert.deepEqual(await database.read('select number from migration order by number'), [
        { number: 1 },
        { number: 2 },
      ])
    })

    it('rejects a file that changed after it was applied', async () => {
      await using database = await open()
      await migrate(database, [first])
      const changed = { ...first, checksum: 'another' }
      await assert.rejects(migrate(database, [changed, second]), /Migration 1 \(test_1\) was changed/)
      await assert.rejects(database.read('select id from b'))
    })

    it('rejects a database that is newer than the program', async () => {
      await using database = await open()
      await migrate(database, [first, second])
      await assert.rejects(migrate(database, [first]), /newer than this program: it has migration 2/)
    })

    it('translates every type name of the project’s migrations', async () => {
      await using database = await open()
      const own = await readMigrations(new URL('../../migrations', import.meta.url).pathname)
      assert.equal(await migrate(database, own), own.length)
      await database.write([
        { sql: "insert into organization (id, name, changed_at, created_at) values ('org_1', 'One', 1, 1)" },
        { sql: "insert into project (id, organization_id, name, created_at) values ('prj_1', 'org_1', 'First', 1)" },
      ])
      assert.deepEqual(
        await database.read('select plan, lifetime_paid_micro_usd, metered, version from organization'),
        [{ plan: 'free', lifetime_paid_micro_usd: 0, metered: 1, version: 1 }],
      )
    })
  })
}

function migration(number: number, sql: string): Migration {
  return { number, name: `test_${number}`, checksum: `checksum of ${number}`, sql }
}
