import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { findRedis } from '../../scripts/test/binaries.ts'
import { freePort } from '../../scripts/test/ready.ts'
import { temporaryFolder } from './temporary-folder.ts'

const program = findRedis()

/** Why a suite that stops and kills a Redis of its own is skipped, or false. */
export const withoutRedisServer = program === undefined ? 'needs redis-server; it is not on this machine' : false

/** A Redis server with its own folder, which tests can stop and kill. */
export type RedisServer = AsyncDisposable & {
  readonly url: string
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Kills it if it still runs, and starts another one on the same port and folder. */
  restart(): Promise<void>
}

export async function startRedisServer(...options: readonly string[]): Promise<RedisServer> {
  const folder = await temporaryFolder()
  const port = await freePort()
  const start = () => startOn(port, folder.path, options)
  let running = await start()

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
      running = await start()
    },
    async [Symbol.asyncDispose]() {
      await kill()
      await folder[Symbol.asyncDispose]()
    },
  }
}

async function startOn(port: number, folder: string, options: readonly string[]) {
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const server = spawn(program ?? 'redis-server', [...fixed, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface(server.stdout)) {
    if (line.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
  return server
}
