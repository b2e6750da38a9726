import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { openSync, readdirSync, readFileSync, writeSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { checkConfig } from '../../src/config/config.ts'
import { migrate as migrateDatabase, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { connect } from '../../src/app/client/connect.ts'
import { migrationsDir } from '../../src/app/storage/storage.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { startTestApp } from '../support/app.ts'
import { fillFolder, filledConfig, type FilledFolder } from '../support/filled-folder.ts'
import { operatorOf } from '../support/operator.ts'
import { answerWith, question } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startProgram } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'

const program = new URL('../faults/programs/interrupted-move.ts', import.meta.url)

async function migrate(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const output: string[] = []
  const errors: string[] = []
  const status = await runCommandLine(['migrate', ...args], {
    env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_LOG_LEVEL: 'silent', ...env },
    print: (line) => void output.push(line),
    printError: (line) => void errors.push(line),
    confirm: async () => false,
  })
  return { status, output: output.join('\n'), errors: errors.join('\n') }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Each file of the folder with its digest. */
const contentOf = (dataDir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  )

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString('hex')}` : String(value)

const sorted = (rows: readonly Record<string, unknown>[]): string[] =>
  rows
    .map((row) =>
      JSON.stringify(
        Object.keys(row)
          .sort()
          .map((name) => [name, textOf(row[name])]),
      ),
    ) // the engines order columns differently
    .sort()

/** Tables without rows of their own in a copy. */
const notCopied = ['migration', 'redo_position', 'redo_loss']

async function assertSameRows({ file }: FilledFolder, url: string): Promise<number> {
  using source = new DatabaseSync(file, { readOnly: true })
  const tables = source.prepare(`select name from sqlite_master where type = 'table'`).all()
  const names = tables.map(({ name }) => String(name)).filter((name) => !notCopied.includes(name))
  let filled = 0
  for (const name of names) {
    const rows = source.prepare(`select * from "${name}"`).all()
    assert.deepEqual(sorted(await query(url, `select * from "${name}"`)), sorted(rows), name)
    filled += Number(rows.length > 0)
  }
  return filled
}

/** Makes the copy of one table several slices long. */
function addLongRows(folder: FilledFolder, count: number): void {
  for (let at = 0; at < count; at++)
    folder.change(
      `insert into stored_response (id, organization_id, project_id, input, document, created_at, expires_at)
       select 'resp_long_' || ?, organization_id, project_id, '[]', ?, 1, 1 from stored_response limit 1`,
      at,
      `"${'long '.repeat(100_000)}"`,
    )
}

describe('moving embedded storage to PostgreSQL', { skip: withoutPostgres }, () => {
  let filled: FilledFolder
  before(async () => void (filled = await fillFolder()))
  after(() => filled[Symbol.asyncDispose]())

  it('copies every row, and a server continues on the copy with the same keys', async () => {
    await using folder = await filled.copy()
    folder.change(`insert into export_cost_file (organization_id, sink_id, day, digest, row_count, has_tags, written_at)
      select organization_id, id, 1767225600, 'abc', 3, 1, 1767315600000 from export_sink limit 1`)
    await using target = await createScratchDatabase()
    const content = contentOf(folder.dataDir)
    const moved = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(moved.status, 0, moved.errors)
    assert.deepEqual(contentOf(folder.dataDir), content)
    assert.ok((await assertSameRows(folder, target.url)) >= 20)
    assert.match(moved.output, new RegExp(`GATEHOUSE_SECRET +the content of the file ${folder.dataDir}/secret`))
    assert.ok(!moved.output.includes(folder.secret))
    assert.deepEqual(await query(target.url, `select to_regclass('copy_progress') as name`), [{ name: null }])

    await using upstream = await startUpstream(answerWith('Hello again', { input: 1, output: 1 }))
    await using app = await startTestApp({
      isFirst: false,
      storage: { database_url: target.url },
      config: { ...filledConfig(upstream.url), secret: folder.secret },
    })
    const authorization = `Bearer ${folder.apiKey}`
    assert.equal((await app.post('/v1/messages', question, { authorization })).status, 200)
    const continued = { model: 'paid', input: 'Go on', previous_response_id: folder.responseId }
    assert.equal((await app.post('/v1/responses', continued, { authorization })).status, 200)
    const operator = operatorOf(app.app)
    assert.equal((await operator.verifyLedger()).broken, null)
    const { finding, checkpoint_finding: checkpointFinding, checked } = await operator.verifyAuditLog()
    assert.deepEqual([finding, checkpointFinding], [undefined, undefined])
    assert.ok(checked > 10)
    const sinks = await app.get('/api/policy-gateway/exports', { authorization: `Bearer ${folder.adminKey}` })
    assert.match(await sinks.text(), /"label":"Archive"/)
  })

  it('moves a backup, and reports the move as JSON', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    const backup = join(folder.dataDir, '..', 'gatehouse.backup')
    await runCommandLine(['backup', backup], {
      env: { GATEHOUSE_DATA_DIR: folder.dataDir },
      print: () => {},
      printError: assert.fail,
      confirm: async () => false,
    })
    const elsewhere = join(folder.dataDir, '..', 'elsewhere')
    const moved = await migrate(elsewhere, ['--to', target.url, '--from', backup, '--json'])
    assert.equal(moved.status, 0, moved.errors)
    await assertSameRows(folder, target.url)
    const { complete, continued, audit_logs: auditLogs, ledger } = JSON.parse(moved.output)
    assert.deepEqual([complete, continued, auditLogs, ledger.broken], [true, false, 1, null])
  })

  it('continues after the process was killed', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    addLongRows(folder, 12)
    let rows = 0
    for (const step of ['copy', 'copy', 'verify']) {
      const from = step === 'copy' ? rows + 1 : 1
      await using killed = startProgram(program, [folder.dataDir, target.url, step, String(from)])
      for await (const line of killed.lines) assert.fail(line)
      const [progress] = await query(target.url, 'select sum(rows) as rows from copy_progress')
      assert.ok(Number(progress?.['rows']) > rows)
      rows = Number(progress?.['rows'])
    }
    const config = checkConfig({ storage: { database_url: target.url }, secret: folder.secret })
    await assert.rejects(connect(config), /an embedded database is being copied into it/)
    const moved = await migrate(folder.dataDir, ['--to', target.url, '--json'])
    assert.equal(moved.status, 0, moved.errors)
    assert.equal(JSON.parse(moved.output).continued, true)
    await assertSameRows(folder, target.url)
  })

  it('does not continue with a source that changed', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    await using killed = startProgram(program, [folder.dataDir, target.url, 'copy', '1'])
    for await (const line of killed.lines) assert.fail(line)
    folder.change(`update organization set name = 'Changed'`)
    const { status, errors } = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(status, 1)
    assert.match(errors, /The source changed since the copy was begun/)
  })

  it('rejects a database that is not empty, and changes nothing in it', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    assert.equal((await migrate(folder.dataDir, ['--to', target.url])).status, 0)
    const { status, errors } = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(status, 1)
    assert.match(errors, /The database of --to is not empty: its table \w+ has rows/)
    await assertSameRows(folder, target.url)
  })

  it('brings the copy of an earlier version to the current one', async () => {
    await using folder = await temporaryFolder()
    await using target = await createScratchDatabase()
    const migrations = await readMigrations(migrationsDir)
    {
      await using database = await openSqlite({ dataDir: folder.path, hasRedoLog: true })
      await migrateDatabase(database, migrations.slice(0, 35))
      await database.write([
        { sql: `insert into organization (id, name, changed_at, created_at) values ('org_1', 'Old', 1, 1)` },
      ])
    }
    const moved = await migrate(folder.path, ['--to', target.url], { GATEHOUSE_SECRET: 'a secret for tests' })
    assert.equal(moved.status, 0, moved.errors)
    assert.deepEqual(await query(target.url, 'select name from organization'), [{ name: 'Old' }])
    const [last] = await query(target.url, 'select max(number) as number from migration')
    assert.equal(Number(last?.['number']), migrations.length)

    await query(target.url, 'delete from organization')
    const again = await migrate(folder.path, ['--to', target.url], { GATEHOUSE_SECRET: 'a secret for tests' })
    assert.equal(again.status, 1)
    assert.match(again.errors, /has tables of a later version than the source/)
  })

  it('uses a database whose tables are empty', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    const env = { DATABASE_URL: target.url, GATEHOUSE_SECRET: folder.secret }
    assert.equal((await migrate(folder.dataDir, [], env)).status, 0)
    const moved = await migrate(folder.dataDir, ['--to', target.url], env)
    assert.equal(moved.status, 0, moved.errors)
    assert.match(moved.output, /GATEHOUSE_SECRET +unchanged/)
    await assertSameRows(folder, target.url)
  })

  it('rejects a source with a damaged page', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    const file = openSync(folder.file, 'r+')
    writeSync(file, Buffer.alloc(8192, 0xff), 0, 8192, 8192 * 5)
    closeSync(file)
    const { status, errors } = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(status, 1)
    assert.match(errors, /gatehouse\.db is damaged: [^]+\. Restore a backup first\./)
    assert.deepEqual(await query(target.url, `select * from pg_tables where schemaname = 'public'`), [])
  })

  it('reports an audit log that somebody changed, and no server starts on the copy', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    folder.change(`update audit_event set fingerprint = 'changed' where sequence = 3`)
    const { status, output } = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(status, 1)
    assert.match(output, /The log is not whole: event 3 /)
    const config = checkConfig({ storage: { database_url: target.url }, secret: folder.secret })
    await assert.rejects(connect(config), /an embedded database is being copied into it/)
  })

  it('rejects the folder of a running server', async () => {
    await using target = await createScratchDatabase()
    await using app = await startTestApp()
    const { status, errors } = await migrate(app.dataDir, ['--to', target.url])
    assert.equal(status, 1)
    assert.match(errors, /is in use by process \d+\. Stop it first/)
  })

  it('rejects another server secret than that of the data', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    const env = { GATEHOUSE_SECRET: 'of another installation' }
    const { status, errors } = await migrate(folder.dataDir, ['--to', target.url], env)
    assert.equal(status, 1)
    assert.match(errors, /GATEHOUSE_SECRET is not the server secret of the data/)
  })

  it('replaces NUL in texts, and says where', async () => {
    await using folder = await filled.copy()
    await using target = await createScratchDatabase()
    folder.change(`update project set name = 'a' || char(0) || 'b'`)
    const { status, output, errors } = await migrate(folder.dataDir, ['--to', target.url])
    assert.equal(status, 0, errors)
    assert.match(output, /In 2 texts of the table project NUL was replaced by U\+001A/)
    assert.deepEqual(await query(target.url, 'select distinct name from project'), [{ name: 'a\u001ab' }])
  })

  it('rejects a URL of another database, and does not print it', async () => {
    await using folder = await filled.copy()
    const wrong = await migrate(folder.dataDir, ['--to', 'mysql://root:password@127.0.0.1/db'])
    assert.equal(wrong.status, 2)
    assert.ok(!wrong.errors.includes('password@'))
    const unreachable = await migrate(folder.dataDir, ['--to', 'postgres://root:password@127.0.0.1:9/db'])
    assert.equal(unreachable.status, 1)
    assert.match(unreachable.errors, /The PostgreSQL database of --to cannot be used: connect ECONNREFUSED/)
    assert.ok(!unreachable.errors.includes('password'))
  })
})
