import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import pg from 'pg'
import { answerWith, question, startPaidApp, type PaidApp } from '../support/paid-app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { executeInFile } from '../support/sqlite-file.ts'

/** A report that reads a table which nothing else uses after the start. */
const slowReport = ({ app }: PaidApp): Promise<Response> =>
  app.get('/v1/organization/audit_logs/keys', { authorization: `Bearer ${app.adminKey}` })

/** The table of the report becomes a view that takes long. */
const slowView = (wait: string): string => `
  alter table audit_key rename to audit_key_stored;
  create view audit_key as select k.* from audit_key_stored k, (${wait}) as waited`

const engines = [
  {
    name: 'embedded storage',
    skip: false,
    reportsAtOnce: 2,
    async start(storage: object): Promise<PaidApp> {
      const paid = await startScene(storage)
      const count =
        'with recursive c (n) as (select 1 union all select n + 1 from c where n < 5000000) select max(n) from c'
      await executeInFile(join(paid.app.dataDir, 'gatehouse.db'), slowView(count))
      return paid
    },
  },
  {
    name: 'PostgreSQL',
    skip: withoutPostgres,
    reportsAtOnce: 6, // one credential may make ten requests at once
    async start(storage: object): Promise<PaidApp> {
      const owned = new AsyncDisposableStack()
      const { url } = owned.use(await createScratchDatabase())
      const paid = owned.use(await startScene({ database_url: url, pool_size: 2, reports_pool_size: 2, ...storage }))
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(slowView('select pg_sleep(2)'))
      await client.end()
      return { ...paid, [Symbol.asyncDispose]: () => owned.disposeAsync() }
    },
  },
]

async function startScene(storage: object): Promise<PaidApp> {
  const paid = await startPaidApp({
    config: { secret: 'a secret of sixteen and more', audit: { on_failure: 'refuse' } },
    storage: { ...storage },
  })
  paid.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
  return paid
}

/** The metrics of storage, by the rest of their names. */
async function figuresOf({ app }: PaidApp): Promise<(name: string) => number> {
  const lines = (await (await app.get('/metrics')).text()).split('\n')
  return (name) => Number(lines.find((line) => line.startsWith(`gatehouse_storage_${name} `))?.split(' ')[1])
}

for (const { name, skip, reportsAtOnce, start } of engines) {
  describe(`slow reports on ${name}`, { skip, timeout: 60_000 }, () => {
    it('delay neither requests nor readiness nor changes', async () => {
      await using paid = await start({})
      const { app } = paid
      const authorization = `Bearer ${app.adminKey}`
      const order: string[] = []
      const reports = Array.from({ length: reportsAtOnce }, () =>
        slowReport(paid).then(
          ({ status }) => order.push(`report ${status}`),
          () => order.push('no answer'),
        ),
      )
      for (let count = 0; count < 5; count++) assert.equal((await app.post('/v1/messages', question)).status, 200)
      assert.equal((await app.get('/health/ready')).status, 200)
      const created = await app.post('/v1/organization/projects', { name: 'new' }, { authorization })
      assert.equal(created.status, 201)
      assert.match(await (await app.get('/v1/organization/projects', { authorization })).text(), /"name":"new"/)
      const busy = await figuresOf(paid)
      order.push('others')
      await Promise.all(reports)
      assert.deepEqual(order, ['others', ...reports.map(() => 'report 200')])
      const [running, waiting] = [busy('calls_running{kind="report"}'), busy('calls_waiting{kind="report"}')]
      assert.ok(running >= 1 && waiting >= 1 && running + waiting <= reportsAtOnce, `${running} and ${waiting}`)
      assert.ok(busy('writes_total') >= 6 && busy('write_seconds_total') > 0)
      const idle = await figuresOf(paid)
      assert.deepEqual([idle('calls_running{kind="report"}'), idle('calls_waiting{kind="report"}')], [0, 0])
    })

    it('are ended with 503 report_timeout, after which the node is still ready', async () => {
      await using paid = await start({ report_timeout_ms: 300 })
      const { app } = paid
      const late = await slowReport(paid)
      assert.equal(late.status, 503)
      assert.ok(Number(late.headers.get('retry-after')) >= 1)
      const { error } = (await late.json()) as { error: { code: string; message: string } }
      assert.equal(error.code, 'report_timeout')
      assert.match(error.message, /shorter period/)
      assert.deepEqual(await (await app.get('/health/ready')).json(), { status: 'ready' })
      assert.equal((await app.post('/v1/messages', question)).status, 200)
      assert.equal((await figuresOf(paid))('reports_timed_out_total'), 1)
    })
  })
}

describe('a replica for reports', { skip: withoutPostgres, timeout: 60_000 }, () => {
  it('that is down fails reports only', async () => {
    await using scratch = await createScratchDatabase()
    const replica = await startTcpProxy({ host: '127.0.0.1', port: 1 })
    const reportsUrl = `postgres://127.0.0.1:${replica.port}/nothing`
    await replica[Symbol.asyncDispose]()
    await using paid = await startScene({ database_url: scratch.url, reports_url: reportsUrl })
    const { app } = paid
    const authorization = `Bearer ${app.adminKey}`
    assert.equal((await slowReport(paid)).status, 503)
    assert.equal((await app.post('/v1/messages', question)).status, 200)
    for (const list of ['projects', 'admin_api_keys', 'policies'])
      assert.equal((await app.get(`/v1/organization/${list}`, { authorization })).status, 200, list)
    assert.deepEqual(await (await app.get('/health/ready')).json(), { status: 'ready' })
  })
})
