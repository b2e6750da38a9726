import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import { startAdminApp, textOf, type AdminApp, type Json } from '../../../../support/administration.ts'
import { startTestApp } from '../../../../support/app.ts'
import { createFastClock } from '../../../../support/fast-clock.ts'
import { operatorOf } from '../../../../support/operator.ts'
import { createScratchDatabase, withoutPostgres } from '../../../../support/postgres.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

/** 0 of 100 is at most 2.96 %, 2 of 100 at most 6.16 %. */
const replay = { level: 'require', newly_blocked_bp: 300, min_events: 100 }
const sample = { audit: { replay_sample: { per_hour: 150 } } }

let count = 0
async function createPolicy(app: AdminApp, rule: string): Promise<string> {
  const body = { name: `Policy ${++count}`, rule, mode: 'enforcing', direction: 'request' }
  return `/policies/${textOf(await app.admin.post('/policies', body))}`
}

const postWith =
  (app: AdminApp, apiKey: string): AdminApp['post'] =>
  (path, body) =>
    app.post(path, body, { authorization: `Bearer ${apiKey}` })

/** Returns the ids of the requests. */
async function send(app: Pick<AdminApp, 'post'>, requests: number): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < requests; at += 1) {
    const content = at < 2 ? `What is Falcon? ada${at}@example.com` : `Hello ${at}`
    const body = { model: 'gatehouse-echo', max_tokens: 8, messages: [{ role: 'user', content }] }
    const answer = await app.post('/v1/messages', body)
    assert.equal(answer.status, 200)
    ids.push(answer.headers.get('request-id') ?? assert.fail('the answer has no request id'))
  }
  return ids
}

const ended = async (read: () => Promise<Json>, field: string): Promise<Json> => {
  for (;;) {
    const found = await read()
    if (found[field] !== 'running') return found
    await scheduler.wait(50)
  }
}

async function runGate({ admin }: AdminApp, policy: string): Promise<Json> {
  const id = textOf(await admin.post(`${policy}/gate`, { revision: 1 }))
  return await ended(() => admin.get(`${policy}/gate/${id}`), 'state')
}

async function coverageOf({ admin }: AdminApp, policy: string): Promise<unknown> {
  const id = textOf(await admin.post(`${policy}/backtest`, {}))
  const { result } = await ended(() => admin.get(`${policy}/backtest/${id}`), 'status')
  return (result as Json)['coverage']
}

const requireReplay = ({ admin }: AdminApp) =>
  admin.send('PUT', '/publish_gate', { body: { revision: 0, replay, cases: { level: 'off' } } })

const checkIn = (run: Json): Json => (run['checks'] as Json[]).find(({ kind }) => kind === 'newly_blocked') ?? {}

describe('a gate without kept texts', () => {
  it('cannot replay, and stores nothing', async () => {
    await using folder = await temporaryFolder()
    {
      await using app = await startAdminApp({ storage: { data_dir: folder.path } })
      await send(app, 100)
      await requireReplay(app)
      const run = await runGate(app, await createPolicy(app, 'Never mention "Falcon".'))
      assert.deepEqual([run['state'], checkIn(run)['state'], checkIn(run)['of']], ['insufficient', 'insufficient', 0])
    }
    assert.deepEqual([storedIn(folder.path, 'replay_sample'), storedIn(folder.path, 'audit_content', ofPrompt)], [0, 0])
  })

  it('replays the sample, and says how many requests are from it', async () => {
    await using app = await startAdminApp({ config: sample })
    await send(app, 100)
    await requireReplay(app)
    const failing = await runGate(app, await createPolicy(app, 'Never mention "Falcon".'))
    assert.equal(failing['state'], 'failed')
    assert.partialDeepStrictEqual(checkIn(failing), { found: 2, of: 100, bound_bp: 617 })
    assert.match(
      String(checkIn(failing)['message']),
      /100 replayed requests are from the replay sample, without personal data\./,
    )
    const passing = await createPolicy(app, 'Never mention "Condor".')
    assert.equal((await runGate(app, passing))['state'], 'passed')
    assert.deepEqual(await coverageOf(app, passing), {
      events: 100,
      sampled: 100,
      with_text: 100,
      redacted_only: 100,
      from_sample: 100,
    })
  })

  it('replays the sample for the gateway configuration as well', async () => {
    await using app = await startAdminApp({ config: sample })
    await send(app, 20)
    const authorization = `Bearer ${app.adminKey}`
    const path = '/api/policy-gateway/config/backtest'
    const body = { config: { rules: { denylist: ['falcon'] } } }
    const started = (await (await app.post(path, body, { authorization })).json()) as Json
    const read = async () => (await (await app.get(`${path}/${textOf(started)}`, { authorization })).json()) as Json
    const { result } = await ended(read, 'status')
    assert.partialDeepStrictEqual(result, { newly_blocked: 2, coverage: { with_text: 20, from_sample: 20 } })
  })
})

describe('the replay sample', () => {
  it('has no more requests of an hour than configured', async () => {
    await using app = await startAdminApp({ config: { audit: { replay_sample: { per_hour: 10 } } } })
    await send(app, 40)
    const coverage = await coverageOf(app, await createPolicy(app, 'Never mention "Condor".'))
    assert.partialDeepStrictEqual(coverage, { events: 10, with_text: 10, from_sample: 10 })
  })

  it('is one for all nodes of an installation', { skip: withoutPostgres }, async () => {
    await using database = await createScratchDatabase()
    const options = {
      config: { secret: 'the secret of two nodes', audit: { replay_sample: { per_hour: 10 } } },
      storage: { database_url: database.url },
    }
    await using first = await startAdminApp(options)
    await using second = await startAdminApp({ ...options, isFirst: false })
    await Promise.all([send(first, 30), send({ post: postWith(second, first.apiKey) }, 30)])
    const coverage = await coverageOf(first, await createPolicy(first, 'Never mention "Condor".'))
    assert.partialDeepStrictEqual(coverage, { events: 10, with_text: 10, from_sample: 10 })
  })

  it('is shown on no page of requests and in no export, and holds no personal data', async () => {
    await using folder = await temporaryFolder()
    {
      await using app = await startAdminApp({ config: sample, storage: { data_dir: folder.path } })
      const [requestId = ''] = await send(app, 1)
      const detail = await app.admin.get(`/requests/${requestId}?include=content`)
      const explained = await app.admin.get(`/requests/${requestId}/explanation?include=content`)
      const exported = await app.admin.get('/audit_logs/export')
      for (const each of [detail, explained, exported]) assert.doesNotMatch(JSON.stringify(each), /Falcon|ada0@/)
      const emails = await createPolicy(app, 'Never mention "ada0@example.com".')
      assert.partialDeepStrictEqual(await coverageOf(app, emails), { with_text: 1, redacted_only: 1 })
      const id = textOf(await app.admin.post(`${emails}/backtest`, {}))
      const { result } = await ended(() => app.admin.get(`${emails}/backtest/${id}`), 'status')
      assert.equal((result as Json)['newly_blocked'], 0)
    }
    assert.equal(storedIn(folder.path, 'replay_sample'), 1)
    assert.equal(storedIn(folder.path, 'audit_content', ofPrompt), 0)
  })

  it('is not kept beside the texts of all requests', async () => {
    await using folder = await temporaryFolder()
    {
      const config = { audit: { content: 'full', ...sample.audit } }
      await using app = await startAdminApp({ config, storage: { data_dir: folder.path } })
      await send(app, 3)
      const coverage = await coverageOf(app, await createPolicy(app, 'Never mention "Condor".'))
      assert.partialDeepStrictEqual(coverage, { with_text: 3, redacted_only: 0, from_sample: 0 })
    }
    assert.equal(storedIn(folder.path, 'replay_sample'), 0)
  })

  it('is removed once it is no longer configured', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    {
      await using app = await startAdminApp({ config: sample, storage })
      await send(app, 2)
    }
    for (const [config, left] of [
      [sample, 2],
      [{}, 0],
    ] as const) {
      {
        await using _app = await startTestApp({ config, storage, isFirst: false, clock: createFastClock(600) })
        await scheduler.wait(2_000)
      }
      assert.equal(storedIn(folder.path, 'replay_sample'), left)
    }
  })

  it('is erased with the texts of a request', async () => {
    await using app = await startAdminApp({ config: sample })
    const [first = ''] = await send(app, 3)
    assert.deepEqual(await operatorOf(app.app, app.organizationId).eraseTexts(first), { erased: 1 })
    const coverage = await coverageOf(app, await createPolicy(app, 'Never mention "Condor".'))
    assert.partialDeepStrictEqual(coverage, { events: 2, with_text: 2, from_sample: 2 })
  })
})

/** The texts of administrators' changes are in the same table. */
const ofPrompt = `content like '%"prompt"%'`

function storedIn(dataDir: string, table: string, where = 'true'): unknown {
  using database = new DatabaseSync(join(dataDir, 'gatehouse.db'), { readOnly: true })
  return database.prepare(`select count(*) as count from ${table} where ${where}`).get()?.['count']
}
