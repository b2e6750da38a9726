// Reports beside a steady load, with many requests stored: how long each report takes, and what it does to the requests.
// `node bench/growth.ts [--events 1000000] [--days 30] [--postgres] [--per-second 40] [--seconds 10] [--folder F]`. To compare two versions,
// run it in a checkout of each, one after the other, with nothing else running. `--folder` keeps an embedded installation: the first run fills
// it, later ones only measure.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { readConfig } from '../src/config/config.ts'
import { findPostgres } from '../scripts/test/binaries.ts'
import { startPostgres } from '../scripts/test/postgres.ts'
import { fill } from './growth/fill.ts'
import { quantilesOf } from './load/quantiles.ts'
import { measure, type Figure } from './measure.ts'
import { cores, freePort, here, startScript, temporaryFolder, type Running } from './targets/script.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '30' },
    'per-second': { type: 'string', default: '40' },
    seconds: { type: 'string', default: '10' },
    postgres: { type: 'boolean', default: false },
    folder: { type: 'string' },
  },
})
if (values.postgres && values.folder !== undefined) throw new Error('--folder is for embedded storage')
const [events, perSecond, seconds] = [Number(values.events), Number(values['per-second']), Number(values.seconds)]

/** Requests that a backtest replays. */
const replayed = 1_000

type Created = {
  readonly organization_id: string
  project_id: string
  admin_key: string
  application_key?: string
  api_key: string
}

const folder = values.folder === undefined ? temporaryFolder() : resolve(values.folder)
mkdirSync(folder, { recursive: true })
/** Written after the filling. */
const keysFile = join(folder, 'keys.json')
const dataDir = join(folder, 'data')
const [port, upstreamPort] = [await freePort(), await freePort()]
await using postgres = values.postgres ? await startPostgres(findPostgres() ?? '') : undefined
const env = {
  GATEHOUSE_CONFIG: writeConfig(),
  ...(postgres && { DATABASE_URL: postgres.url, GATEHOUSE_SECRET: 'a secret for the bench' }),
}
const main = here('../bin/gatehouse.mjs')
const isFilled = existsSync(keysFile)
const created = JSON.parse(isFilled ? readFileSync(keysFile, 'utf8') : command('setup', '--json')) as Created

if (!isFilled) await measureFilling()
writeFileSync(keysFile, JSON.stringify(created))
console.log(`storage: ${Math.round((await storedBytes()) / events)} bytes a request`)
const upstream = await startScript({
  name: 'upstream',
  file: here('load/upstream.ts'),
  port: upstreamPort,
  words: [upstreamPort],
  core: cores.load,
})
const server = await startScript({ name: 'gatehouse', file: main, port, words: ['serve'], env })
const running: Running = {
  ...server,
  headers: () => [`authorization: Bearer ${created.application_key ?? created.api_key}\r\n`],
}
await measureReports()
running.stop()
upstream.stop()

function writeConfig(): string {
  const file = join(folder, 'gatehouse.yaml')
  const plenty = { requests_per_minute: 1_000_000, concurrent_requests: 100 }
  const unlimited = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }
  writeFileSync(
    file,
    JSON.stringify({
      server: { port },
      storage: { data_dir: dataDir },
      log: { level: 'warn' },
      credits: { starting: 1_000_000_000 },
      limits: { tiers: { free: unlimited } },
      administration: { credential: plenty, organization: plenty },
      upstreams: [{ name: 'c', kind: 'openai-chat', base_url: `http://127.0.0.1:${upstreamPort}/v1` }],
      models: [{ name: 'chat', targets: [{ upstream: 'c', model: 'm' }], price: { input: 1, output: 2 } }],
    }),
  )
  return file
}

function command(...words: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, ...words], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`gatehouse ${words.join(' ')}: ${stderr}`)
  return stdout
}

async function measureFilling(): Promise<void> {
  const startMs = performance.now()
  let shown = 0
  await fill(readConfig(env), {
    organizationId: created.organization_id,
    projectId: created.project_id,
    events,
    days: Number(values.days),
    withTexts: replayed,
    onProgress(done) {
      if (done - shown < events / 20) return
      shown = done
      process.stderr.write(`filled ${done} of ${events}\n`)
    },
  })
  const rate = Math.round(events / ((performance.now() - startMs) / 1000))
  console.log(
    `${values.postgres ? 'PostgreSQL' : 'embedded'}: ${events} requests of ${values.days} days, ${rate} a second`,
  )
}

async function storedBytes(): Promise<number> {
  if (postgres === undefined) return statSync(join(dataDir, 'gatehouse.db')).size
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
  await client.end()
  return Number(rows[0]?.bytes)
}

async function measureReports(): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const month = now - 30 * 86_400
  const get = (path: string) => () => request(path)
  const reports: readonly (readonly [name: string, run: () => Promise<unknown>])[] = [
    ['readiness', () => request('/health/ready')],
    ['overview', get('/v1/organization/overview')],
    ['overview of 30 days', get(`/v1/organization/overview/period?from=${month}&to=${now}`)],
    ['traffic of 30 days by model', get(`/v1/organization/traffic?from=${month}&step=1d&group_by=model`)],
    ['traffic of a day by minute', get(`/v1/organization/traffic?from=${now - 86_400}&step=1m`)],
    ['usage of 30 days', get(`/v1/organization/usage?start_time=${month}&bucket=day`)],
    ['usage of 30 days by user, a page', get(`/v1/organization/usage?start_time=${month}&bucket=day&group_by=user`)],
    ['usage of users in 30 days', get(`/v1/organization/usage?start_time=${month}&bucket=total&group_by=user`)],
    ['requests, newest', get('/v1/organization/requests?limit=50')],
    ['requests denied', get('/v1/organization/requests?limit=50&status=denied')],
    [
      'audit log of an object',
      get(`/v1/organization/audit_logs?limit=50&from=${month}&resource_id=adk_01k9z8y7x6w5v4t3s2r1q0p9n8`),
    ],
    ['audit log of a week', get(`/v1/organization/audit_logs?limit=50&from=${now - 7 * 86_400}`)],
    [
      'ten usage by user at once',
      atOnce(10, get(`/v1/organization/usage?start_time=${month}&bucket=day&group_by=user`)),
    ],
    [
      'ten usage of users at once',
      atOnce(10, get(`/v1/organization/usage?start_time=${month}&bucket=total&group_by=user`)),
    ],
    ['export of 5,000 requests', get('/v1/organization/requests/export?format=csv&limit=5000')],
    [`backtest of ${replayed} requests`, backtest],
    ['verification of the audit log', verification],
  ]
  await beside(undefined) // the first load is slower, because the engine still compiles
  const alone = await beside(undefined)
  row('', 'p50', 'p99', 'requests p50', 'p99', 'p99 to alone')
  row('alone', '', '', ms(alone.figure.p50Ms), ms(alone.figure.p99Ms), '1.0')
  for (const [name, run] of reports) {
    try {
      const { figure, times } = await beside(run)
      const report = quantilesOf(times)
      row(
        name,
        ms(report.p50Ms),
        ms(report.p99Ms),
        ms(figure.p50Ms),
        ms(figure.p99Ms),
        (figure.p99Ms / alone.figure.p99Ms).toFixed(1),
      )
    } catch (error) {
      console.log(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  for (const words of [
    ['ledger', 'verify'],
    ['audit', 'verify'],
  ] as const) {
    const startMs = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [main, ...words], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    console.log(
      `${words.join(' ')}: ${ms(performance.now() - startMs)}${status === 0 ? '' : ` failed: ${stderr.slice(0, 200)}`}`,
    )
  }
}

/** A steady load, and a report again and again while it runs. */
async function beside(run: (() => Promise<unknown>) | undefined): Promise<{ figure: Figure; times: number[] }> {
  let isOver = false
  const times: number[] = []
  const repeat = async (): Promise<void> => {
    while (run !== undefined && !isOver) {
      const startMs = performance.now()
      await run()
      times.push(performance.now() - startMs)
      await setTimeout(250)
    }
  }
  const repeating = repeat()
  repeating.catch(() => undefined)
  try {
    const figure = await measure({
      running,
      upstreamPort,
      target: 'gatehouse',
      benchCase: {
        name: 'beside reports',
        workload: {
          dialect: 'chat',
          model: 'chat',
          text: 'fresh',
          olderTurns: 0,
          turnCharacters: 0,
          lastCharacters: 300,
        },
        perSecond,
      } as Parameters<typeof measure>[0]['benchCase'],
      warmUp: { windowSeconds: 2, minSeconds: 2, maxSeconds: 4, tolerance: 0.2 },
      seconds,
    })
    return { figure, times }
  } finally {
    isOver = true
    await repeating
  }
}

async function request(path: string, body?: unknown): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${created.admin_key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`)
  return text
}

function atOnce(count: number, run: () => Promise<unknown>): () => Promise<unknown> {
  return () => Promise.all(Array.from({ length: count }, run))
}

type Job = { readonly id: string; readonly status?: string; readonly state?: string }

/** Starts a job and waits for its end. A backtest has a status, a verification a state. */
async function runJob(path: string, body: unknown): Promise<void> {
  const statusOf = ({ status, state }: Job): string | undefined => status ?? state
  let job = JSON.parse(await request(path, body)) as Job
  while (statusOf(job) === 'running') {
    await setTimeout(50)
    job = JSON.parse(await request(`${path}/${job.id}`)) as Job
  }
  if (statusOf(job) !== 'completed') throw new Error(`${path}: ${JSON.stringify(job).slice(0, 200)}`)
}

async function backtest(): Promise<void> {
  const policy = {
    name: `Bench ${performance.now()}`,
    rule: "cel:categories['harassment'] > 0.4 || text.contains('falcon')",
  }
  const { id } = JSON.parse(await request('/v1/organization/policies', policy)) as Job
  await runJob(`/v1/organization/policies/${id}/backtest`, { limit: replayed })
}

async function verification(): Promise<void> {
  await runJob('/v1/organization/audit_logs/verify', {})
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`
}

function row(...[name = '', ...cells]: string[]): void {
  console.log(name.padEnd(34) + cells.map((cell) => cell.padStart(13)).join(''))
}
