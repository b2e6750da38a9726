import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import pg from 'pg'
import { longRun } from '../support/long-run.ts'
import { startNodes } from '../support/node-process.ts'
import { answerWith, question } from '../support/paid-app.ts'
import { startPostgresServer, withoutPostgresServer, type PostgresServer } from '../support/postgres-server.ts'
import { startUpstream } from '../support/upstream.ts'

type Fault = { readonly kind: 'paused' | 'killed' | 'refused'; readonly forMs: number }

const shortList: readonly Fault[] = [
  { kind: 'paused', forMs: 2_500 },
  { kind: 'killed', forMs: 0 },
  { kind: 'refused', forMs: 1_500 },
]
const anyFault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.constantFrom('paused', 'killed', 'refused'),
  forMs: fc.integer({ min: 0, max: 12_000 }),
})
/** Each takes about ten seconds. */
const faults: readonly Fault[] =
  longRun === undefined ? shortList : fc.sample(anyFault, { numRuns: Math.ceil(longRun.runs / 50), seed: longRun.seed })

const cost = 15
/** Long enough for a node to notice that the database is back, and to write what was spooled. */
const settleMs = 30_000

async function inflict(server: PostgresServer, { kind, forMs }: Fault): Promise<void> {
  if (kind === 'paused') {
    server.pause()
    await sleep(forMs)
    server.resume()
  } else {
    await server.kill()
    await sleep(kind === 'refused' ? forMs : 0)
    await server.start()
  }
}

type Load = {
  readonly acknowledged: Set<string>
  readonly rejected: Set<string>
  readonly statuses: Map<number, number>
  stop(): Promise<void>
}

/** Callers that send one request after the other. An error response counts as a response, but promises nothing. */
function startCallers(urls: readonly string[], apiKey: string): Load {
  const acknowledged = new Set<string>()
  const rejected = new Set<string>()
  const statuses = new Map<number, number>()
  let isOver = false
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  const body = JSON.stringify({ ...question, max_tokens: 100 })
  async function send(url: string): Promise<void> {
    while (!isOver) {
      const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
      const text = await answer.text()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      const requestId = answer.headers.get('x-request-id') ?? ''
      if (answer.status === 200) acknowledged.add(requestId)
      else {
        rejected.add(requestId)
        assert.equal(answer.status, 503, text)
        await sleep(100)
      }
    }
  }
  const callers = Array.from({ length: 6 }, (_, at) => send(urls[at % urls.length] ?? ''))
  return {
    acknowledged,
    rejected,
    statuses,
    async stop() {
      isOver = true
      await Promise.all(callers)
    },
  }
}

async function columnOf(url: string, sql: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ value: string }>(sql)).rows.map(({ value }) => value)
  } finally {
    await client.end()
  }
}

const chargesSql = 'select request_id as value from charge'
const eventsSql = `select request_id as value from audit_event where code = 'gateway.request.decided'`

const titles = {
  continue: 'has each acknowledged answer once in the ledger and once in the log, and requests continue',
  refuse: 'has each acknowledged answer once in both if audit is required, and charges no rejected one',
} as const

describe('PostgreSQL that is paused, killed and unreachable under load', { skip: withoutPostgresServer }, () => {
  for (const onFailure of ['continue', 'refuse'] as const) it(titles[onFailure], (t) => run(onFailure, t))

  async function run(onFailure: keyof typeof titles, t: TestContext): Promise<void> {
    await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
    await using server = await startPostgresServer()
    const noLimit = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
    await using nodes = await startNodes({
      count: 2,
      databaseUrl: server.url,
      redisUrl: '',
      config: {
        storage: { database_timeout_ms: 1_000 },
        upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
        models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
        credits: { starting: 100_000_000 },
        limits: { tiers: { free: noLimit } },
        audit: { on_failure: onFailure },
      },
    })
    const load = startCallers(nodes.urls, nodes.apiKey)
    for (const fault of faults) {
      await sleep(500)
      const before = load.acknowledged.size
      await inflict(server, fault)
      while (load.acknowledged.size < before + 10) await sleep(50) // the test's time-out is the bound
    }
    await sleep(500)
    await load.stop()

    const deadline = performance.now() + settleMs
    let missing: string[] = []
    do {
      const [charged, logged] = await Promise.all([columnOf(server.url, chargesSql), columnOf(server.url, eventsSql)])
      assert.equal(new Set(charged).size, charged.length)
      assert.equal(new Set(logged).size, logged.length)
      const [inLedger, inLog] = [new Set(charged), new Set(logged)]
      missing = [...load.acknowledged].filter((id) => !inLedger.has(id) || !inLog.has(id))
      if (missing.length > 0) await sleep(250)
    } while (missing.length > 0 && performance.now() < deadline)
    assert.deepEqual(missing, [])

    // An answer that was withheld leaves a row without an amount.
    const paidSql = `select request_id as value from charge where micro <> 0`
    const paid = await columnOf(server.url, paidSql)
    assert.deepEqual(
      paid.filter((id) => load.rejected.has(id)),
      [],
    )
    assert.deepEqual(await columnOf(server.url, `${paidSql} and micro <> ${cost}000000`), [])
    assert.deepEqual(
      [...load.acknowledged].filter((id) => !paid.includes(id)),
      [],
    )
    assert.equal(nodes.command('ledger', 'verify')['broken'], null)
    assert.equal(nodes.command('audit', 'verify')['broken'] ?? null, null)
    t.diagnostic(`${faults.length} faults, ${load.acknowledged.size} answers; ${JSON.stringify([...load.statuses])}`)
  }
})
