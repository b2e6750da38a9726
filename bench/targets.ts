import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Running = {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): void
}

type Target = { readonly name: string; readonly start: (port: number, upstreamPort: number) => Promise<Running> }

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
  { name: 'gatehouse', start: startGatehouse },
]

export async function startTarget(target: Target, upstreamPort: number): Promise<Running> {
  return target.start(await freePort(), upstreamPort)
}

export async function startUpstream(): Promise<Running> {
  return startScript('upstream', { file: here('load/upstream.ts'), args: [await freePort()] })
}

type Script = { readonly file: string; readonly args: readonly number[]; readonly env?: Record<string, string> }

async function startScript(name: string, { file: script, args, env = {} }: Script): Promise<Running> {
  const [port = 0] = args
  const words = script.endsWith('main.ts') ? [script, 'serve'] : [script, ...args.map(String)]
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  child.stdout.resume()
  return { name, port, pid: child.pid ?? 0, headers: {}, stop: () => void child.kill() }
}

/** A real one: embedded storage, a key, two upstreams, logs as by default. */
async function startGatehouse(port: number, upstreamPort: number): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  const file = join(folder, 'gatehouse.yaml')
  const base = `http://127.0.0.1:${upstreamPort}`
  writeFileSync(
    file,
    JSON.stringify({
      server: { port },
      storage: { data_dir: join(folder, 'data') },
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
  const main = here('../src/main.ts')
  const setup = spawnSync(process.execPath, [main, 'setup', '--json'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  const { api_key: key } = JSON.parse(setup.stdout) as { api_key: string }
  const running = await startScript('gatehouse', { file: main, args: [port, upstreamPort], env })
  return { ...running, headers: { authorization: `Bearer ${key}` } }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
