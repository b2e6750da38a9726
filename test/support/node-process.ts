import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stringify } from 'yaml'
import { temporaryFolder } from './temporary-folder.ts'

const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

/** Nodes in processes of their own, on one database. */
export type Nodes = AsyncDisposable & {
  readonly urls: readonly string[]
  readonly apiKey: string
  readonly adminKey: string
  /** Runs a command and returns its JSON output. */
  command(...args: readonly string[]): Record<string, unknown>
}

export type NodesOptions = {
  readonly count: number
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly config: Readonly<Record<string, unknown>>
  /** False if the database is already set up. */
  readonly setup?: boolean
}

export async function startNodes(options: NodesOptions): Promise<Nodes> {
  const { count, databaseUrl, redisUrl, config, setup = true } = options
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const file = join(folder.path, 'gatehouse.yaml')
  // Long timeout, because PostgreSQL may be slow on a busy machine.
  writeFileSync(file, stringify({ storage: { database_timeout_ms: 10_000 }, ...config }))
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    GATEHOUSE_CONFIG: file,
    GATEHOUSE_DATA_DIR: join(folder.path, 'data'),
    GATEHOUSE_SECRET: 'the same on every node',
    GATEHOUSE_PORT: '0',
    GATEHOUSE_LOG_LEVEL: 'silent',
  }
  const command = (...args: readonly string[]): Record<string, unknown> => {
    const { stdout, stderr } = spawnSync(process.execPath, [main, ...args, '--json'], { env, encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as Record<string, unknown>
  }
  const made = setup ? command('setup') : {}
  const urls = await Promise.all(Array.from({ length: count }, () => startNode(env, opened)))
  const kept = opened.move()
  return {
    urls,
    apiKey: String(made['api_key']),
    adminKey: String(made['admin_key']),
    command,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function startNode(env: NodeJS.ProcessEnv, opened: AsyncDisposableStack): Promise<string> {
  const child = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  opened.defer(async () => {
    child.kill('SIGTERM')
    await exited
  })
  for await (const line of createInterface(child.stdout)) {
    const url = /"api":"([^"]+)\/v1"/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return url
  }
  throw new Error('the node did not start')
}
