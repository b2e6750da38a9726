import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { answerWith, question } from '../support/paid-app.ts'
import { startPostgresServer, withoutPostgresServer } from '../support/postgres-server.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { redisUrl, withoutRedis } from '../support/redis.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { startWorkerServer, type WorkerServer } from '../support/worker-server.ts'

const skip = withoutPostgres || withoutRedis
const fixture = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname
const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname
const noLimit = { rpm: 0, rpd: 0, tpm: 0, tpd: 0, concurrent: { key: 0, project: 0, organization: 0 } }

const configFor = (upstream: TestUpstream) => ({
  upstreams: [{ name: 'up', kind: 'openai-chat', base_url: `${upstream.url}/v1` }],
  models: [{ name: 'paid', targets: [{ upstream: 'up' }], price: { input: 1000, output: 1000 } }],
  credits: { starting: 100_000_000 },
  limits: { tiers: { free: noLimit } },
})

async function startScene(workers: number) {
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await createScratchDatabase())
  const upstream = opened.use(await startUpstream(answerWith('Hello', { input: 12, output: 3 })))
  const options = { databaseUrl: database.url, redisUrl: redisUrl ?? '', workers, config: configFor(upstream) }
  const server = opened.use(await startWorkerServer(options))
  await server.untilAllReady()
  const kept = opened.move()
  return { database, upstream, server, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const ask = (url: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(question),
  })

/** On a connection of its own, so that the next request reaches the next worker. */
const read = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await fetch(url, { headers: { connection: 'close', ...headers } })).text()

type System = {
  readonly node: { readonly host: string; readonly id: string }
  readonly nodes: { readonly count: number }
}

const readSystem = async ({ url, keys }: WorkerServer): Promise<System> =>
  JSON.parse(await read(`${url}/v1/organization/system`, { authorization: `Bearer ${keys.admin}` })) as System

/** The status over HTTPS, on a connection of its own. The certificate is that of another name. */
async function statusOf(url: string): Promise<number | undefined> {
  const options = { agent: false as const, rejectUnauthorized: false }
  const [response] = (await once(get(url, options), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

/** The sum of the samples of a metric, by worker. */
function sumsByWorker(metrics: string, name: string): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [, worker = '', value] of metrics.matchAll(new RegExp(`^${name}\\{worker="(\\d+)".*\\} (\\S+)$`, 'gm')))
    sums[worker] = (sums[worker] ?? 0) + Number(value)
  return sums
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

const chargesSql = 'select request_id as value from charge where micro <> 0'
const eventsSql = `select request_id as value from audit_event where code = 'gateway.request.decided'`

/** Waits until the ledger and the audit log have every id, each once. */
async function untilStored(url: string, acknowledged: ReadonlySet<string>): Promise<void> {
  for (;;) {
    const [charged, logged] = await Promise.all([columnOf(url, chargesSql), columnOf(url, eventsSql)])
    assert.equal(new Set(charged).size, charged.length)
    assert.equal(new Set(logged).size, logged.length)
    const [inLedger, inLog] = [new Set(charged), new Set(logged)]
    if ([...acknowledged].every((id) => inLedger.has(id) && inLog.has(id))) return
    await sleep(100) // the test's time-out is the bound
  }
}

/** Callers that continue after a connection breaks. Only complete answers count as acknowledged. */
function startCallers(url: string, key: string) {
  const acknowledged = new Set<string>()
  let isOver = false
  async function send(): Promise<void> {
    while (!isOver) {
      const answer = await ask(url, key).catch(() => undefined)
      const text = await answer?.text().catch(() => undefined)
      if (answer?.status === 200 && text !== undefined) acknowledged.add(answer.headers.get('x-request-id') ?? '')
      else await sleep(20)
    }
  }
  const callers = Array.from({ length: 6 }, send)
  return {
    acknowledged,
    async more(count: number): Promise<void> {
      const until = acknowledged.size + count
      while (acknowledged.size < until) await sleep(10)
    },
    async stop(): Promise<void> {
      isOver = true
      await Promise.all(callers)
    },
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A request whose answer the upstream holds back until `finish` is called. */
async function startHeldAnswer({ upstream, server }: { upstream: TestUpstream; server: WorkerServer }) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  upstream.answer(async (response, received) => {
    arrived.resolve()
    await released.promise
    await answerWith('Late', { input: 12, output: 3 })(response, received)
  })
  const answer = ask(server.url, server.keys.api, { connection: 'close' })
  await arrived.promise
  return { answer, finish: released.resolve }
}

describe('two workers behind one port', { skip }, () => {
  it('both answer, each as a node with a name of its own', async () => {
    await using scene = await startScene(2)
    const systems = await Promise.all(Array.from({ length: 4 }, () => readSystem(scene.server)))
    const hosts = new Set(systems.map(({ node }) => node.host.replace(/^.*\//, '')))
    assert.deepEqual([...hosts].sort(), ['1', '2'])
    assert.equal(new Set(systems.map(({ node }) => node.id)).size, 2)
    assert.equal(scene.server.lines.filter((line) => line.includes('"Gatehouse started"')).length, 1)
  })

  it('are counted together by one scrape, whichever of them it reaches', async () => {
    await using scene = await startScene(2)
    const { url, keys } = scene.server
    for (let sent = 0; sent < 4; sent++) assert.equal((await ask(url, keys.api, { connection: 'close' })).status, 200)
    for (let scrape = 0; scrape < 2; scrape++) {
      const metrics = await read(`${url}/metrics`)
      const sums = sumsByWorker(metrics, 'gatehouse_requests_total')
      assert.deepEqual(Object.keys(sums), ['1', '2'])
      assert.equal(
        Object.values(sums).reduce((a, b) => a + b),
        4,
      )
      assert.deepEqual(sumsByWorker(metrics, 'gatehouse_worker_up'), { 1: 1, 2: 1 })
      assert.deepEqual(sumsByWorker(metrics, 'gatehouse_worker_restarts_total'), { 1: 0, 2: 0 })
      assert.equal(metrics.match(/^# TYPE gatehouse_requests_total /gm)?.length, 1)
    }
  })

  it('are scraped without one that does not answer, which the metrics tell', async () => {
    await using scene = await startScene(2)
    const { url, workerPids } = scene.server
    const [stopped = 0] = workerPids()
    process.kill(stopped, 'SIGSTOP')
    try {
      // The first connection may be given to the stopped worker, and the second then goes to the other one.
      const metrics = await Promise.any([read(`${url}/metrics`), read(`${url}/metrics`)])
      assert.equal(
        Object.values(sumsByWorker(metrics, 'gatehouse_worker_up')).reduce((a, b) => a + b),
        1,
      )
      assert.equal(Object.keys(sumsByWorker(metrics, 'process_resident_memory_bytes')).length, 1)
    } finally {
      process.kill(stopped, 'SIGCONT')
    }
  })

  it('lose nothing acknowledged if one is killed under load, and it is started again', async (t) => {
    await using scene = await startScene(2)
    const { database, server } = scene
    const before = server.workerPids()
    assert.equal(before.length, 2)
    const load = startCallers(server.url, server.keys.api)
    for (const pid of before) {
      await load.more(100)
      process.kill(pid, 'SIGKILL')
      await load.more(50)
      while (server.workerPids().length < 2) await sleep(20)
      await server.untilAllReady()
    }
    await load.more(100)
    await load.stop()
    await untilStored(database.url, load.acknowledged)
    const after = server.workerPids()
    assert.deepEqual([after.length, after.filter((pid) => before.includes(pid)).length], [2, 0])
    const restarts = sumsByWorker(await read(`${server.url}/metrics`), 'gatehouse_worker_restarts_total')
    assert.deepEqual(restarts, { 1: 1, 2: 1 })
    for (const line of server.lines) assert.doesNotThrow(() => JSON.parse(line), line)
    t.diagnostic(`two workers were killed, ${load.acknowledged.size} answers arrived and are stored`)
  })

  it('finish their answers after SIGTERM, and the exit code is 0', async () => {
    await using scene = await startScene(2)
    const { server } = scene
    const held = await startHeldAnswer(scene)
    const pids = server.workerPids()
    process.kill(server.pid, 'SIGTERM')
    while (!server.lines.some((line) => line.includes('Stopping'))) await sleep(10)
    held.finish()
    assert.equal((await held.answer).status, 200)
    assert.equal(await server.exited, 0)
    assert.deepEqual(pids.filter(isAlive), [])
  })

  it('stop at once at a second signal', async () => {
    await using scene = await startScene(2)
    const { server } = scene
    const held = await startHeldAnswer(scene)
    const failed = assert.rejects(held.answer.then((answer) => answer.json()))
    process.kill(server.pid, 'SIGTERM')
    while (!server.lines.some((line) => line.includes('Stopping'))) await sleep(10)
    await sleep(1_100) // signals within a second count as one
    process.kill(server.pid, 'SIGTERM')
    await failed
    assert.equal(await server.exited, 0)
    held.finish()
  })

  it('share every port over HTTPS and plain HTTP, also after one was started again', async () => {
    const tls = { cert_file: fixture('gateway.cert.pem'), key_file: fixture('gateway.key.pem'), metrics: false }
    await using database = await createScratchDatabase()
    const options = { databaseUrl: database.url, redisUrl: redisUrl ?? '', workers: 2 }
    await using server = await startWorkerServer({
      ...options,
      config: { server: { host: 'localhost', metrics_port: 0, tls } },
    })
    const up = async (): Promise<number> => {
      const sums = sumsByWorker(await read(server.metricsUrl).catch(() => ''), 'gatehouse_worker_up')
      return Object.values(sums).reduce((sum, value) => sum + value, 0)
    }
    while ((await up()) < 2) await sleep(50)
    const [first = 0] = server.workerPids()
    process.kill(first, 'SIGKILL')
    while (server.workerPids().includes(first) || (await up()) < 2) await sleep(50)
    const { port } = new URL(server.url)
    const statuses = await Promise.all(
      Array.from({ length: 4 }, () => statusOf(`https://localhost:${port}/health/ready?strict`)),
    )
    assert.deepEqual(statuses, [200, 200, 200, 200])
  })

  it('finish their answers and end if the supervisor is killed', async () => {
    await using scene = await startScene(2)
    const { server } = scene
    const held = await startHeldAnswer(scene)
    const pids = server.workerPids()
    process.kill(server.pid, 'SIGKILL')
    await server.exited
    held.finish()
    assert.equal((await held.answer).status, 200)
    while (pids.some(isAlive)) await sleep(20)
  })
})

describe('a server that cannot start with workers', () => {
  const run = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [main, 'serve'], { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' })

  it('names the setting if the storage is embedded', async () => {
    await using folder = await temporaryFolder()
    const { status, stderr } = run({ GATEHOUSE_WORKERS: '2', GATEHOUSE_DATA_DIR: folder.path })
    assert.equal(status, 2)
    assert.match(stderr, /server\.workers: 2 workers need PostgreSQL/)
  })

  it('reports a port in use as one process does, once', { skip }, async () => {
    await using folder = await temporaryFolder()
    await using database = await createScratchDatabase()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl ?? '',
      GATEHOUSE_DATA_DIR: folder.path,
      GATEHOUSE_SECRET: 'the same on every node',
      GATEHOUSE_PORT: String(port),
    }
    const alone = run({ ...env, GATEHOUSE_WORKERS: '1' })
    const together = run({ ...env, GATEHOUSE_WORKERS: '2' })
    assert.match(alone.stderr, /is already in use/)
    assert.deepEqual([together.status, together.stderr], [alone.status, alone.stderr])
    other.close()
  })
})

describe('workers that are killed while PostgreSQL is away', { skip: withoutPostgresServer || withoutRedis }, () => {
  it('leave what they spooled to the one process that is started instead of them', async () => {
    await using postgres = await startPostgresServer()
    await using upstream = await startUpstream(answerWith('Hello', { input: 12, output: 3 }))
    const config = {
      ...configFor(upstream),
      storage: { database_timeout_ms: 1_000, redis_timeout_ms: 5_000, pool_size: 4 },
    }
    const options = { databaseUrl: postgres.url, redisUrl: redisUrl ?? '', config }
    await using server = await startWorkerServer({ ...options, workers: 2 })
    await server.untilAllReady()
    const load = startCallers(server.url, server.keys.api)
    await load.more(20)
    await postgres.kill()
    await load.more(50)
    for (const pid of [server.pid, ...server.workerPids()]) process.kill(pid, 'SIGKILL')
    await load.stop()
    await postgres.start()
    const { dataDir } = server
    assert.ok(
      existsSync(join(dataDir, 'worker-1', 'audit-spool')) || existsSync(join(dataDir, 'worker-2', 'audit-spool')),
    )
    await using _alone = await startWorkerServer({ ...options, workers: 1, dataDir })
    await untilStored(postgres.url, load.acknowledged)
  })
})
