import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { temporaryFolder } from './temporary-folder.ts'

const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

export type WorkerServerOptions = {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly workers: number
  readonly config: Readonly<Record<string, unknown>>
  /** For a second server on the same data; by default a new one. */
  readonly dataDir?: string
}

/** `gatehouse serve` with workers, in processes of their own. */
export type WorkerServer = AsyncDisposable & {
  readonly url: string
  readonly metricsUrl: string
  readonly pid: number
  readonly dataDir: string
  /** Empty if the database had an organization already. */
  readonly keys: { readonly api: string; readonly admin: string }
  /** Every line of its output so far. */
  readonly lines: readonly string[]
  /** The exit code. */
  readonly exited: Promise<number | null>
  workerPids(): number[]
  /** Resolves when every worker serves. */
  untilAllReady(): Promise<void>
}

type Welcome = {
  readonly api?: string
  readonly metrics?: string
  readonly first_start?: { readonly api_key: string; readonly admin_key: string }
}

export async function startWorkerServer(options: WorkerServerOptions): Promise<WorkerServer> {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const dataDir = options.dataDir ?? join(folder.path, 'data')
  const file = join(folder.path, 'gatehouse.yaml')
  // Long timeouts, because PostgreSQL and Redis may be slow on a busy machine.
  const storage = { database_timeout_ms: 10_000, redis_timeout_ms: 5_000, pool_size: 4, reports_pool_size: 1 }
  writeFileSync(file, stringify({ storage, ...options.config }))
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    GATEHOUSE_CONFIG: file,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_SECRET: 'the same on every node',
    GATEHOUSE_PORT: '0',
    GATEHOUSE_WORKERS: String(options.workers),
    GATEHOUSE_LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  opened.defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  const lines: string[] = []
  const welcome = Promise.withResolvers<Welcome>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    if (line.includes('"Gatehouse started"')) welcome.resolve(JSON.parse(line) as Welcome)
  })
  void exited.then((code) => welcome.reject(new Error(`the server ended with ${code}: ${lines.join('\n')}`)))
  const { api = '', metrics = '', first_start: first } = await welcome.promise
  const url = api.replace(/\/v1$/, '')
  const kept = opened.move()
  return {
    url,
    metricsUrl: metrics,
    pid: child.pid ?? 0,
    dataDir,
    keys: { api: first?.api_key ?? '', admin: first?.admin_key ?? '' },
    lines,
    exited,
    workerPids: () => childrenOf(child.pid ?? 0),
    async untilAllReady() {
      while (!(await isAllReady(url))) await sleep(50) // the test's time-out is the bound
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const isAllReady = (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready?strict`, { headers: { connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  )

const childrenOf = (parent: number): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
