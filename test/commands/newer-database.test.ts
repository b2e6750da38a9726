import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

/** Far longer than a command takes. A command that does not end is killed and has no exit code. */
const timeout = 60_000

const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], { env: { ...process.env, ...env }, encoding: 'utf8', timeout })

/** Adds a migration that only a later version knows. */
async function makeNewer(database: Database): Promise<void> {
  const later = "insert into migration (number, name, checksum, applied_at) values (9999, 'later', 'x', 1)"
  await database.write([{ sql: later }])
}

function assertRejected(env: Readonly<Record<string, string>>): void {
  const message = /database is newer than this program.*9999 \(later\).*start the version/is
  for (const args of [['serve'], ['migrate'], ['keys', 'list'], ['ledger', 'verify']]) {
    const { status, stderr } = run(env, ...args)
    assert.equal(status, 1, `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n\s+at /)
  }
  const { status, stdout } = run(env, 'doctor')
  assert.equal(status, 1)
  assert.match(stdout, message)
  assert.doesNotMatch(stdout, /disk full|PostgreSQL running/)
}

describe('a database that a newer version has migrated', () => {
  it('makes every command exit with 1 and print what to do, with embedded storage', async () => {
    await using folder = await temporaryFolder()
    const env = { GATEHOUSE_DATA_DIR: folder.path, GATEHOUSE_PORT: '0', DATABASE_URL: '' }
    assert.equal(run(env, 'migrate').status, 0)
    {
      await using database = await openSqlite({ dataDir: folder.path })
      await makeNewer(database)
    }
    assertRejected(env)
  })

  it('makes every command exit with 1 and print what to do, on PostgreSQL', { skip: withoutPostgres }, async () => {
    await using folder = await temporaryFolder()
    await using scratch = await createScratchDatabase()
    const env = {
      GATEHOUSE_DATA_DIR: folder.path,
      GATEHOUSE_PORT: '0',
      DATABASE_URL: scratch.url,
      GATEHOUSE_SECRET: 'a secret of sixteen and more',
    }
    assert.equal(run(env, 'migrate').status, 0)
    {
      await using database = await openPostgres({ url: scratch.url })
      await makeNewer(database)
    }
    assertRejected(env)
  })
})
