import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { connect } from '../../src/app/client/connect.ts'
import { checkConfig } from '../../src/config/config.ts'
import { answerWith } from '../support/paid-app.ts'
import { startLoad } from '../support/load.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'
import { operatorOf } from '../support/operator.ts'

const program = new URL('programs/paid-app.ts', import.meta.url)
const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Runs a command on a data folder in its own process, while this one continues. */
async function gatehouse(dataDir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number, out, err }
}

type Started = { readonly url: string; readonly keys?: { readonly api_key: string } }

async function started(running: Program): Promise<Started> {
  for await (const line of running.lines) return JSON.parse(line) as Started
  throw new Error('the server did not start')
}

/** Request ids of all charges, and of all requests in the audit log. */
async function requestsOf(dataDir: string): Promise<{ charged: Set<string>; logged: Set<string> }> {
  await using app = await connect(checkConfig({ storage: { data_dir: dataDir } }))
  assert.equal((await operatorOf(app).verifyLedger()).broken, null)
  const entries = await operatorOf(app).ledger(10_000)
  const charged = new Set(entries.flatMap(({ kind, ref }) => (kind === 'usage' ? [ref] : [])))
  using database = new DatabaseSync(join(dataDir, 'gatehouse.db'), { readOnly: true })
  const rows = database.prepare(`select request_id from audit_event where code = 'gateway.request.decided'`).all()
  return { charged, logged: new Set(rows.map((row) => String(row['request_id']))) }
}

describe('a backup', () => {
  let workspace: Awaited<ReturnType<typeof temporaryFolder>>
  const at = (name: string): string => join(workspace.path, name)
  before(async () => {
    workspace = await temporaryFolder()
    const { code, err } = await gatehouse(at('data'), ['setup', '--json'])
    assert.equal(code, 0, err)
    const made = await gatehouse(at('data'), ['backup', at('plain.backup')])
    assert.equal(made.code, 0, made.err)
  })
  after(() => workspace[Symbol.asyncDispose]())

  it('made under load and restored has each request acknowledged before it, once in the ledger and once in the log', async (t) => {
    await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
    await using running = startProgram(program, [at('busy'), upstream.url, '', '', '0'])
    const { url, keys } = await started(running)
    const load = startLoad(url, keys?.api_key ?? '')
    await load.more(40)
    const earlier = [...load.acknowledged]
    const made = gatehouse(at('busy'), ['backup', at('busy.backup')])
    assert.equal((await made).code, 0, (await made).err)
    await load.more(10)
    await load.stop()
    await running.kill()
    const restored = await gatehouse(at('elsewhere'), ['restore', at('busy.backup')])
    assert.equal(restored.code, 0, restored.err)

    const { charged, logged } = await requestsOf(at('elsewhere'))
    assert.deepEqual(
      earlier.filter((id) => !charged.has(id) || !logged.has(id)),
      [],
    )
    // Charge and event may be two commits, so an answer in flight may have only one of them. There are four callers.
    assert.ok(charged.symmetricDifference(logged).size <= 4)
    const verified = await gatehouse(at('elsewhere'), ['audit', 'verify'])
    assert.equal(verified.code, 0, verified.out + verified.err)
    t.diagnostic(
      `${earlier.length} acknowledged before, ${charged.size} in the backup, ${load.acknowledged.size} in all`,
    )

    await using again = startProgram(program, [at('elsewhere'), upstream.url, '', '', '0'])
    const { url: newUrl } = await started(again)
    const further = startLoad(newUrl, keys?.api_key ?? '') // the key works: the secret was restored too
    await further.more(4)
    await further.stop()
  })

  it('is one file that only its owner may read', () => {
    assert.equal(statSync(at('plain.backup')).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(workspace.path).filter((name) => name.startsWith('plain.backup')),
      ['plain.backup'],
    )
  })

  it('does not overwrite a file', async () => {
    writeFileSync(at('taken'), 'mine')
    const { code, err } = await gatehouse(at('data'), ['backup', at('taken')])
    assert.deepEqual([code, readFileSync(at('taken'), 'utf8')], [1, 'mine'])
    assert.match(err, /exists already/)
  })

  it('fails with the name of the file if it cannot be written', async () => {
    const { code, err } = await gatehouse(at('data'), ['backup', at('missing/folder.backup')])
    assert.equal(code, 1)
    assert.match(err, /missing\/folder\.backup cannot be written: .*Choose another name/)
  })

  it('fails if there is no database, and creates none', async () => {
    const { code, err } = await gatehouse(at('nowhere'), ['backup', at('nowhere.backup')])
    assert.equal(code, 1)
    assert.match(err, /There is no database in .*nowhere/)
    assert.equal(existsSync(at('nowhere')), false)
  })

  it('of PostgreSQL fails, and names its own tools', async () => {
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', GATEHOUSE_SECRET: 'a secret for tests' }
    const { code, err } = await gatehouse(at('data'), ['backup', at('pg.backup')], env)
    assert.equal(code, 1)
    assert.match(err, /pg_dump/)
  })

  it('is not restored over a database unless --replace moves that database away', async () => {
    const rejected = await gatehouse(at('data'), ['restore', at('plain.backup')])
    assert.equal(rejected.code, 1)
    assert.match(rejected.err, /already has a database.*--replace/)
    const { code, out } = await gatehouse(at('data'), ['restore', at('plain.backup'), '--replace', '--json'])
    assert.equal(code, 0)
    const { replaced, organizations } = JSON.parse(out) as { replaced: string; organizations: number }
    assert.equal(organizations, 1)
    assert.deepEqual(readdirSync(replaced).includes('gatehouse.db'), true)
    assert.equal((await gatehouse(at('data'), ['orgs', 'list'])).code, 0)
  })

  it('replaces a database with all its secrets, including the one before a rotation', async () => {
    const secretIds = async (verb: string): Promise<{ secret_id: string; previous_id: string | null }> =>
      JSON.parse((await gatehouse(at('turned'), ['secret', verb, '--json'])).out) as never
    assert.equal((await gatehouse(at('turned'), ['restore', at('plain.backup')])).code, 0)
    await secretIds('rotate')
    assert.equal((await gatehouse(at('turned'), ['secret', 'retire', '--force'])).code, 0)
    await secretIds('rotate')
    const kept = ['secret', 'secret.previous'].map((name) => readFileSync(join(at('turned'), name), 'utf8'))
    const { code, out, err } = await gatehouse(at('turned'), ['restore', at('plain.backup'), '--replace', '--json'])
    assert.equal(code, 0, err)
    const { replaced } = JSON.parse(out) as { replaced: string }
    assert.deepEqual(
      ['secret', 'secret.previous'].map((name) => readFileSync(join(replaced, name), 'utf8')),
      kept,
    )
    const restored = await secretIds('status')
    assert.equal(restored.previous_id, null)
    const rotated = await secretIds('rotate')
    assert.equal(rotated.previous_id, restored.secret_id)
  })

  it('is not restored under a running server', async () => {
    await using running = startProgram(program, [at('held'), 'http://127.0.0.1:1', '', '', '0'])
    await started(running)
    const { code, err } = await gatehouse(at('held'), ['restore', at('plain.backup'), '--replace'])
    assert.equal(code, 1)
    assert.match(err, /in use by process \d+/)
  })

  it('that is damaged or not a backup is rejected, and the folder is unchanged', async () => {
    const whole = readFileSync(at('plain.backup'))
    writeFileSync(at('short.backup'), whole.subarray(0, whole.length / 2))
    writeFileSync(at('other.backup'), 'not a database')
    for (const name of ['short.backup', 'other.backup', 'data/gatehouse.db', 'data']) {
      const { code, err } = await gatehouse(at('target'), ['restore', at(name)])
      assert.equal(code, 1)
      assert.match(err, /is not a complete Gatehouse backup/)
    }
    assert.equal(existsSync(at('target')), false)
  })

  it('with another file than the secrets is rejected, and nothing is written outside of the folder', async () => {
    const file = at('names.backup')
    writeFileSync(file, readFileSync(at('plain.backup')))
    const database = new DatabaseSync(file)
    const { manifest } = database.prepare('select manifest from backup_manifest').get() ?? {}
    const changed = JSON.parse(String(manifest)) as { secretFiles: Record<string, string> }
    changed.secretFiles['../../outside'] = 'x'
    database.prepare('update backup_manifest set manifest = ?').run(JSON.stringify(changed))
    database.close()
    const { code, err } = await gatehouse(at('deep/down/names'), ['restore', file])
    assert.equal(code, 1)
    assert.match(err, /is not a complete Gatehouse backup: it contains a file named "..\/..\/outside"/)
    assert.equal(existsSync(at('deep')), false)
  })

  for (const [what, sql] of [
    ['a trigger', 'create trigger spy after insert on charge begin delete from charge; end'],
    ['a view', 'create view spy as select * from organization'],
    ['a table', 'create table spy (id text)'],
    ['a further column', 'alter table organization add column spy text'],
    ['a missing index', 'drop index audit_event_time'],
  ] as const)
    it(`whose schema is not that of the migrations is rejected, and the folder is unchanged: ${what}`, async () => {
      const file = at(`${what}.backup`)
      writeFileSync(file, readFileSync(at('plain.backup')))
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
      const { code, err } = await gatehouse(at('foreign'), ['restore', file])
      assert.equal(code, 1)
      assert.match(err, /is not a database of Gatehouse: its .* is not the one of this version/)
      assert.equal(existsSync(at('foreign')), false)
    })

  it('made by a newer version is rejected', async () => {
    writeFileSync(at('newer.backup'), readFileSync(at('plain.backup')))
    const database = new DatabaseSync(at('newer.backup'))
    database.exec(`insert into migration values (9999, 'later', 'x', 1)`)
    database.close()
    const { code, err } = await gatehouse(at('target'), ['restore', at('newer.backup')])
    assert.equal(code, 1)
    assert.match(err, /newer than this program/)
  })

  it('without the secret needs the same secret to be restored', async () => {
    const made = await gatehouse(at('data'), ['backup', at('bare.backup'), '--without-secret'])
    assert.equal(made.code, 0, made.err)
    const secret = readFileSync(at('data/secret'), 'utf8').trim()
    assert.equal(readFileSync(at('bare.backup')).includes(secret), false)
    assert.equal(readFileSync(at('plain.backup')).includes(secret), true)
    const rejected = await gatehouse(at('bare'), ['restore', at('bare.backup')])
    assert.match(rejected.err, /made without its server secret/)
    const wrong = await gatehouse(at('bare'), ['restore', at('bare.backup')], {
      GATEHOUSE_SECRET: 'another secret here',
    })
    assert.match(wrong.err, /GATEHOUSE_SECRET is not the server secret/)
    const rotated = await gatehouse(at('rotated'), ['restore', at('bare.backup')], {
      GATEHOUSE_SECRET: 'the secret since then',
      GATEHOUSE_SECRET_PREVIOUS: secret,
    })
    assert.equal(rotated.code, 0, rotated.err)
    const right = await gatehouse(at('bare'), ['restore', at('bare.backup')], { GATEHOUSE_SECRET: secret })
    assert.deepEqual([rejected.code, wrong.code, right.code], [1, 1, 0], right.err)
  })

  it('leaves no secret behind in the restored database', async () => {
    rmSync(at('clean'), { recursive: true, force: true })
    assert.equal((await gatehouse(at('clean'), ['restore', at('plain.backup')])).code, 0)
    const secret = readFileSync(at('clean/secret'), 'utf8').trim()
    assert.equal(readFileSync(at('clean/gatehouse.db')).includes(secret), false)
    assert.equal(statSync(at('clean/secret')).mode & 0o777, 0o600)
  })
})
