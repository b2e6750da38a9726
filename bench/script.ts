import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import type { BenchCase } from './cases.ts'

/** A running server, and how to send requests to it. */
export type Running = {
  readonly name: string
  readonly port: number
  readonly pid: number
  readonly headers: (benchCase: BenchCase) => Readonly<Record<string, string>>
  readonly answers: (benchCase: BenchCase) => boolean
  stop(): void
}

export type Script = {
  readonly name: string
  readonly file: string
  readonly port: number
  readonly core?: number
  /** Options of Node itself. */
  readonly flags?: readonly string[]
  readonly words: readonly (string | number)[]
  readonly env?: Readonly<Record<string, string>>
}

/** The measured process and the load generator run on separate cores, if the machine has two and supports pinning. */
export const cores = { measured: 0, load: 1 } as const
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** The command line to run Node with these arguments on this core. */
export function nodeOn(core: number, words: readonly string[]): readonly [string, string[]] {
  const command = [process.execPath, ...words]
  return canPin ? ['taskset', ['-c', String(core), ...command]] : [process.execPath, [...words]]
}

/** Runs a script until it is stopped. Its first output means that it listens. */
export async function startScript(script: Script): Promise<Running> {
  const { name, file, port, core = cores.measured, flags = [], words, env = {} } = script
  const [command, args] = nodeOn(core, [...flags, file, ...words.map(String)])
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error(`${name} did not start`)))
  })
  child.stdout.resume()
  return { name, port, pid: child.pid ?? 0, headers: () => ({}), answers: () => true, stop: () => void child.kill() }
}

/** The path of a file in this folder. */
export const here = (file: string): string => new URL(file, import.meta.url).pathname

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
