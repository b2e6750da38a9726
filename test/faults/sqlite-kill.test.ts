import assert from 'node:assert/strict'
import test from 'node:test'
import { openSqlite, type SqliteOptions } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { startProgram } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const rounds = 4
const acknowledgementsPerRound = 300

for (const hasRedoLog of [false, true]) {
  test(`every acknowledged step is there, whole, after the process was killed while it wrote${hasRedoLog ? ' with a redo log' : ''}`, async () => {
    await using folder = await temporaryFolder()
    await createTables(folder.path)
    const acknowledged: string[] = []
    for (let round = 0; round < rounds; round++) {
      acknowledged.push(...(await writeUntilKilled({ dataDir: folder.path, hasRedoLog }, round)))
      await assertNothingLost({ dataDir: folder.path, hasRedoLog }, acknowledged)
    }
  })
}

async function createTables(dataDir: string): Promise<void> {
  await using database = await openSqlite({ dataDir })
  await database.write([
    { sql: 'create table entry (id text primary key) strict' },
    { sql: 'create table total (entries integer not null) strict' },
    { sql: 'insert into total (entries) values (0)' },
  ])
}

async function writeUntilKilled({ dataDir, hasRedoLog }: SqliteOptions, round: number): Promise<string[]> {
  const args = [dataDir, String(round), ...(hasRedoLog ? ['redo-log'] : [])]
  await using program = startProgram(new URL('programs/write-loop.ts', import.meta.url), args)
  const acknowledged: string[] = []
  for await (const id of program.lines) {
    // Lines that were in the pipe at the kill count, too.
    if (acknowledged.push(id) === acknowledgementsPerRound) void program.kill()
  }
  assert.ok(acknowledged.length >= acknowledgementsPerRound)
  return acknowledged
}

async function assertNothingLost(options: SqliteOptions, acknowledged: readonly string[]): Promise<void> {
  await using database = await openSqlite(options)
  const entries = new Set((await database.read<{ id: string }>('select id from entry')).map(({ id }) => id))
  assert.deepEqual(
    acknowledged.filter((id) => !entries.has(id)),
    [],
  )
  assert.deepEqual(await database.read('select entries from total'), [{ entries: entries.size }])
  assert.deepEqual(await database.read('pragma integrity_check'), [{ integrity_check: 'ok' }])
}
