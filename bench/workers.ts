import { randomInt } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect } from '../src/app/client/connect.ts'
import { readConfig } from '../src/config/config.ts'
import { openServers } from '../scripts/test/servers.ts'
import { createScratchDatabaseOn } from '../test/support/postgres.ts'
import { openConnection } from './load/connection.ts'
import { readProcess, readResidentKb, totalMicros, useBetween } from './load/process.ts'
import { quantilesOf } from './load/quantiles.ts'
import { createRequests, type Workload } from './load/workload.ts'
import { startUpstream } from './targets.ts'
import { startFlags } from './targets/gatehouse.ts'
import { freePort, here, temporaryFolder } from './targets/script.ts'

/**
 * Workers with PostgreSQL and Redis: `node bench/workers.ts --workers 1,2 --rounds 3`. It prints requests a second, and the CPU time of a
 * request in the processes of the gateway, in PostgreSQL and in Redis. The numbers of workers are measured in turns, because the machine also runs the
 * databases, the upstream and the load generator. The number of callers is the same for each. Requests have fresh text, and belong to the organizations in turn.
 * `--organizations 1 --per-second 100` shows how long events wait for the head of one audit log while nodes share a steady load.
 */
const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '15' },
    connections: { type: 'string', default: '64' },
    organizations: { type: 'string', default: '8' },
    'per-second': { type: 'string', default: '0' },
  },
})
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number)
const organizations = Number(values.organizations)
/** 0: each caller sends its next request when it has the response. */
const perSecond = Number(values['per-second'])
/** A worker has compiled its code after some thousand requests. */
const warmUpRequests = 6_000
const workload: Workload = {
  dialect: 'chat',
  model: 'chat',
  text: 'fresh',
  olderTurns: 2,
  turnCharacters: 300,
  lastCharacters: 300,
}

type Server = { readonly port: number; readonly pid: number; readonly keys: readonly string[]; stop(): Promise<void> }
type Measured = Record<string, number | string>

const print = (line: string): void => void process.stderr.write(`${line}\n`)
await using servers = await openServers(print)
const { TEST_DATABASE_URL: postgresUrl = '', TEST_REDIS_URL: redisUrl = '' } = servers.environment
const upstream = await startUpstream(await freePort())
const results: Measured[] = []
for (let round = 1; round <= (rounds ?? 1); round++)
  for (const workers of values.workers.split(',').map(Number)) {
    results.push(await measureWorkers(workers))
    print(JSON.stringify(results.at(-1)))
  }
upstream.stop()
console.table(results)

async function measureWorkers(workers: number): Promise<Measured> {
  await using database = await createScratchDatabaseOn(postgresUrl)
  const server = await startServer(workers, database.url)
  const load = startLoad(server, connections ?? 1)
  while (load.count() < warmUpRequests * workers) await sleep(100)
  load.pace(perSecond)
  await sleep(perSecond > 0 ? 3_000 : 0) // requests that were sent before have ended
  load.restart()
  const [before, waitedBefore] = [readAll(server.pid), await readHeadWaits(server.port)]
  await sleep((seconds ?? 1) * 1000)
  const [after, waited] = [readAll(server.pid), await readHeadWaits(server.port)]
  const { requests, failures, latenciesMs } = load.stop()
  const perRequest = (part: keyof typeof before): number => Math.round((after[part] - before[part]) / requests)
  const { p50Ms, p99Ms } = quantilesOf(latenciesMs)
  const residentMb = Math.round(
    [server.pid, ...childrenOf(server.pid)].reduce((sum, pid) => sum + readResidentKb(pid), 0) / 1024,
  )
  await server.stop()
  return {
    workers,
    requests,
    failures,
    perSecond: Math.round(requests / (seconds ?? 1)),
    nodeMicros: perRequest('node'),
    supervisorMicros: workers > 1 ? perRequest('supervisor') : 0,
    postgresMicros: perRequest('postgres'),
    redisMicros: perRequest('redis'),
    perNodeCore: Math.round(1e6 / perRequest('node')),
    p50Ms: Math.round(p50Ms),
    p99Ms: Math.round(p99Ms),
    headLocks: waited.count - waitedBefore.count,
    headWaitMs: ((1000 * (waited.seconds - waitedBefore.seconds)) / (waited.count - waitedBefore.count)).toFixed(2),
    residentMb,
    loadAverage: (loadavg()[0] ?? 0).toFixed(1),
  }
}

async function startServer(workers: number, databaseUrl: string): Promise<Server> {
  const folder = temporaryFolder()
  const file = join(folder, 'gatehouse.yaml')
  const unlimited = {
    rpm: 0,
    rpd: 0,
    tpm: 0,
    tpd: 0,
    concurrent: { key: 10_000, project: 10_000, organization: 10_000 },
  }
  const settings = {
    log: { level: 'info' },
    storage: { database_timeout_ms: 10_000, redis_timeout_ms: 2_000 },
    limits: { tiers: { free: { ...unlimited, rpm: 100_000_000, tpm: 1_000_000_000_000 } } },
    credits: { starting: 1_000_000_000 },
    upstreams: [{ name: 'c', kind: 'openai-chat', base_url: `http://127.0.0.1:${upstream.port}/v1` }],
    models: [{ name: 'chat', targets: [{ upstream: 'c', model: 'm' }], price: { input: 1, output: 2 } }],
  }
  writeFileSync(file, JSON.stringify(settings))
  const port = await freePort()
  const env = {
    ...process.env,
    GATEHOUSE_CONFIG: file,
    GATEHOUSE_DATA_DIR: join(folder, 'data'),
    GATEHOUSE_PORT: String(port),
    GATEHOUSE_WORKERS: String(workers),
    GATEHOUSE_SECRET: 'the same on every worker',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  }
  const keys = await createKeys(env)
  const child = spawn(process.execPath, [...startFlags(), here('../bin/gatehouse.mjs'), 'serve'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  while (!(await isReady(port))) await sleep(100)
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { port, pid: child.pid ?? 0, keys, stop }
}

async function createKeys(env: NodeJS.ProcessEnv): Promise<string[]> {
  await using connection = await connect(readConfig(env))
  const keys: string[] = []
  for (let at = 0; at < organizations; at++) {
    const body = { name: `Organization ${at}`, with_project: true }
    keys.push((await connection.client.post<{ api_key: string }>('/operator/organizations', body)).api_key)
  }
  return keys
}

function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health/ready?strict`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Waits for the heads of audit logs so far, in all workers. */
async function readHeadWaits(port: number): Promise<{ readonly count: number; readonly seconds: number }> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const sumOf = (suffix: string): number =>
    metrics
      .split('\n')
      .filter((line) => line.startsWith(`gatehouse_audit_lock_wait_seconds_${suffix}`))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return { count: sumOf('count'), seconds: sumOf('sum') }
}

/** Connections that each send the next request when they have the answer, or at a steady rate together. */
function startLoad({ port, keys }: Server, count: number) {
  const headers = keys.map((key) => `authorization: Bearer ${key}\r\n`)
  const next = createRequests({ workload, headers, seed: randomInt(1e9) })
  let counted = { requests: 0, failures: 0, latenciesMs: [] as number[] }
  let isOver = false
  let isPaced = false
  let timer: NodeJS.Timeout | undefined
  const idle: (() => void)[] = []
  const open = Array.from({ length: count }, () => {
    let sentMs = 0
    const send = (): void => {
      sentMs = performance.now()
      connection.send(next())
    }
    const connection = openConnection(port, workload.dialect, {
      onIdle() {
        if (isOver) return
        if (isPaced) idle.push(send)
        else send()
      },
      onAnswer(isOk) {
        counted.requests++
        if (!isOk) counted.failures++
        counted.latenciesMs.push(performance.now() - sentMs)
      },
      onClose: () => {},
    })
    return connection
  })
  return {
    count: () => counted.requests,
    pace(rate: number) {
      if (rate === 0) return
      isPaced = true
      timer = setInterval(() => idle.shift()?.(), 1000 / rate)
    },
    restart: () => void (counted = { requests: 0, failures: 0, latenciesMs: [] }),
    stop() {
      isOver = true
      clearInterval(timer)
      for (const connection of open) connection.close()
      return counted
    },
  }
}

/** CPU time so far, in microseconds: of the gateway, of its supervisor or only process, and of the databases. */
function readAll(pid: number) {
  const [postgres = 0] = serversOf('/postgres', postgresUrl)
  return {
    node: cpuOf([pid, ...childrenOf(pid)]),
    supervisor: cpuOf([pid]),
    postgres: cpuOf([postgres, ...childrenOf(postgres)]),
    redis: cpuOf(serversOf('redis-server', redisUrl)),
  }
}

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + totalMicros(useBetween(new Map(), readProcess(pid))), 0)
}

function childrenOf(parent: number): number[] {
  return allPids().filter((pid) => Number(/\) \S (\d+)/.exec(readQuietly(`/proc/${pid}/stat`))?.[1]) === parent)
}

/** The processes whose program has this name and whose arguments contain the port of this address. */
function serversOf(program: string, address: string): number[] {
  const { port } = new URL(address)
  return allPids().filter((pid) => {
    const [path = '', ...rest] = readQuietly(`/proc/${pid}/cmdline`).split('\0')
    // Redis replaces its command line by one text.
    return `${path} `.includes(`${program} `) && [path, ...rest].join(' ').includes(port)
  })
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // the process has ended
  }
}
