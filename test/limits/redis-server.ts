import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Why suites that start a Redis of their own are skipped here; false where they run. With `CI=true` they always run. */
export const noRedisServer: string | false =
  process.env['CI'] === 'true' || spawnSync('redis-server', ['--version']).status === 0
    ? false
    : 'redis-server is not installed'

/** A throw-away server with a folder of its own. */
export type RedisServer = AsyncDisposable & {
  readonly url: string
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Kills it if it runs, and starts another on the same port, with what is in the folder. */
  restart(): Promise<void>
}

export async function startRedisServer(...options: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-redis-'))
  const port = await freePort()
  let running = await start(port, folder, options)

  const kill = async (): Promise<void> => {
    if (running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void running.kill(name),
    async restart() {
      await kill()
      running = await start(port, folder, options)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function start(port: number, folder: string, options: readonly string[]) {
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', [...fixed, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(server.stdout)) {
    if (line.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
  return server
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
