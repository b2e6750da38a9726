import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPostgres } from '../../scripts/test/binaries.ts'
import { createDiskSpool } from '../../src/adapters/stores/sql/disk-spool.ts'
import { diagnose } from '../../src/app/diagnostics/doctor.ts'
import { checkConfig } from '../../src/config/config.ts'
import { startLoad } from '../support/load.ts'
import { startNodes } from '../support/node-process.ts'
import { answerWith } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream } from '../support/upstream.ts'

const run = promisify(execFile)
const tool = (name: string): string => join(findPostgres() ?? '', name)

async function columnOf(url: string, sql: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}

describe('a dump of PostgreSQL', { skip: withoutPostgres }, () => {
  it('made under load and restored has each request acknowledged before it, once in the ledger and once in the log', async (t) => {
    await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
    await using folder = await temporaryFolder()
    await using original = await createScratchDatabase()
    await using restored = await createScratchDatabase()
    const config = {
      upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
      models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
      limits: {
        tiers: { free: { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } } },
      },
    }
    const dump = join(folder.path, 'gatehouse.dump')
    let before: string[] = []
    let apiKey = ''
    {
      await using nodes = await startNodes({ count: 1, databaseUrl: original.url, redisUrl: '', config })
      apiKey = nodes.apiKey
      const load = startLoad(nodes.urls[0] ?? '', apiKey)
      await load.more(40)
      before = [...load.acknowledged]
      await run(tool('pg_dump'), ['--format=custom', `--file=${dump}`, original.url])
      await load.more(10)
      await load.stop()
    }
    await run(tool('pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${restored.url}`, dump])

    const charged = await columnOf(restored.url, 'select request_id as id from charge order by 1')
    const logged = await columnOf(
      restored.url,
      `select request_id as id from audit_event where code = 'gateway.request.decided' order by 1`,
    )
    assert.deepEqual(
      before.filter((id) => !charged.includes(id) || !logged.includes(id)),
      [],
    )
    // Charge and event are two commits, so an answer in flight may have only one of them. There are four callers.
    assert.ok(new Set(charged).symmetricDifference(new Set(logged)).size <= 4)
    assert.equal(new Set(charged).size, charged.length)
    assert.equal(new Set(logged).size, logged.length)
    t.diagnostic(`${before.length} acknowledged before, ${charged.length} in the dump`)

    await using nodes = await startNodes({ count: 1, databaseUrl: restored.url, redisUrl: '', config, setup: false })
    assert.equal(nodes.command('ledger', 'verify')['broken'], null)
    const further = startLoad(nodes.urls[0] ?? '', apiKey)
    await further.more(4)
    await further.stop()
  })
})

describe('the doctor of a node on PostgreSQL', { skip: withoutPostgres }, () => {
  it('reports what waits in the data folder for the database', async () => {
    await using folder = await temporaryFolder()
    await using database = await createScratchDatabase()
    const config = checkConfig({
      storage: { data_dir: folder.path, database_url: database.url },
      secret: 'a secret for tests',
    })
    const spoolFinding = async () =>
      (await diagnose(() => config, {}, { isOffline: true })).find(({ part }) => part === 'spool')
    assert.deepEqual(await spoolFinding(), { part: 'spool', state: 'ok', message: 'nothing is waiting' })
    {
      await using spool = createDiskSpool<{ id: string }>(join(folder.path, 'spool'), {
        table: 'unsettled',
        id: 'request_id',
        value: 'charge',
        idOf: ({ id }) => id,
        atMsOf: () => 1,
      })
      await spool.append([{ id: 'req_1' }])
    }
    const { state, message } = (await spoolFinding()) ?? {}
    assert.deepEqual(
      [state, message],
      ['warning', 'charges that wait for PostgreSQL: 1, audit events: 0, responses: 0'],
    )
  })
})
