import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchCase } from './cases.ts'

export type Running = {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly headers: (benchCase: BenchCase) => Readonly<Record<string, string>>
  readonly answers: (benchCase: BenchCase) => boolean
  stop(): void
}

type Target = {
  readonly name: string
  readonly start: (port: number, upstreamPort: number) => Promise<Running>
  /** Which cases it can be asked; all when left out. */
  readonly answers?: (benchCase: BenchCase) => boolean
}

const here = (file: string): string => new URL(file, import.meta.url).pathname

/** Everything that is measured, in the order of the table. */
export const targets: readonly Target[] = [
  {
    name: 'bare',
    start: (port, upstream) => startScript('bare', { file: here('targets/bare.ts'), args: [port, upstream] }),
  },
  {
    name: 'fastify',
    start: (port, upstream) => startScript('fastify', { file: here('targets/fastify.ts'), args: [port, upstream] }),
  },
  { name: 'gatehouse', start: (port, upstream) => startGatehouse(port, upstream) },
  {
    name: 'portkey',
    start: startPortkey,
    answers: ({ upstream, path, unit }) => path.includes(upstream) && unit === 'request',
  },
]

export async function startTarget(target: Target, upstreamPort: number): Promise<Running> {
  const running = await target.start(await freePort(), upstreamPort)
  return target.answers ? { ...running, answers: target.answers } : running
}

export async function startUpstream(): Promise<Running> {
  return startScript('upstream', { file: here('load/upstream.ts'), args: [await freePort()] })
}

type Script = {
  readonly file: string
  /** Of Node itself. */
  readonly flags?: readonly string[]
  readonly args: readonly number[]
  readonly words?: readonly string[]
  readonly env?: Record<string, string>
}

async function startScript(name: string, script: Script): Promise<Running> {
  const { file, flags = [], args, words = args.map(String), env = {} } = script
  const [port = 0] = args
  const child = spawn(process.execPath, [...flags, file, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  child.stdout.resume()
  return { name, port, pid: child.pid ?? 0, headers: () => ({}), answers: () => true, stop: () => void child.kill() }
}

const plenty = {
  rpm: 100_000_000,
  rpd: 1_000_000_000,
  tpm: 1_000_000_000_000,
  tpd: 1_000_000_000_000,
  concurrent: { key: 10_000, project: 10_000, organization: 10_000 },
}

/** A real one: embedded storage, a key, two upstreams, logs as by default. */
export async function startGatehouse(port: number, upstreamPort: number, settings: object = {}): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  const file = join(folder, 'gatehouse.yaml')
  const base = `http://127.0.0.1:${upstreamPort}`
  writeFileSync(
    file,
    JSON.stringify({
      server: { port },
      storage: { data_dir: join(folder, 'data') },
      // Counted and paid for as always, only more of it.
      limits: { tiers: { free: plenty } },
      credits: { starting: 1_000_000_000 },
      ...settings,
      upstreams: [
        { name: 'c', kind: 'openai-chat', base_url: `${base}/v1` },
        { name: 'a', kind: 'anthropic', base_url: base },
      ],
      models: [
        { name: 'chat', targets: [{ upstream: 'c', model: 'm' }], price: { input: 1, output: 2 } },
        { name: 'messages', targets: [{ upstream: 'a', model: 'm' }], price: { input: 1, output: 2 } },
      ],
    }),
  )
  const env = { GATEHOUSE_CONFIG: file }
  const main = here('../bin/gatehouse.mjs')
  const setup = spawnSync(process.execPath, [main, 'setup', '--json'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  const { api_key: key } = JSON.parse(setup.stdout) as { api_key: string }
  const running = await startScript('gatehouse', {
    file: main,
    flags: startFlags(),
    args: [port],
    words: ['serve'],
    env,
  })
  return { ...running, headers: () => ({ authorization: `Bearer ${key}` }) }
}

/** What `npm start` tells Node. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { scripts: { start: string } }
  return scripts.start.split(' ').filter((word) => word.startsWith('--'))
}

/**
 * The TypeScript peer, as npm has it: passing through, no checks, no limits, no log. Only whole answers are compared: its
 * streams fail against a plain local upstream. Fetched into `bench/build` when first needed.
 */
async function startPortkey(port: number, upstreamPort: number): Promise<Running> {
  const folder = here('build')
  const file = `${folder}/node_modules/@portkey-ai/gateway/build/start-server.js`
  if (!existsSync(file))
    spawnSync('npm', ['install', '--prefix', folder, '--loglevel=error', '@portkey-ai/gateway@1.15.2'])
  const words = [`--port=${port}`, '--headless']
  const running = await startScript('portkey', { file, args: [port], words })
  const headers = ({ upstream }: BenchCase) => ({
    authorization: 'Bearer none',
    'x-portkey-provider': upstream === 'chat' ? 'openai' : 'anthropic',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  })
  return { ...running, headers }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
