import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Workload } from '../load/workload.ts'

/** A running server, and how to send requests to it. */
export type Running = {
  readonly port: number
  readonly pid: number
  /** How long it took until it listened. */
  readonly readyMs: number
  /** The file of its probe, if it has one. */
  readonly probeFile?: string
  /** Whether its metrics count the texts that its encoder was asked for. */
  readonly hasEncoder?: true
  /** Header lines for each of its callers. */
  readonly headers: (workload: Workload) => readonly string[]
  /** The end of what it wrote to standard error. */
  lastErrors(): string
  stop(): void
}

export type Script = {
  readonly name: string
  readonly port: number
  readonly core?: number
  /** The program and its arguments. Default: this Node with the file. */
  readonly command?: readonly string[]
  readonly file?: string
  readonly words?: readonly (string | number)[]
  /** Options of Node itself. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** The measured process and the load generator run on separate cores, if the machine has two and supports pinning. */
export const cores = { measured: 0, load: 1 } as const
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** The command line that runs a program on this core. */
export function pinned(core: number, command: readonly string[]): readonly [string, string[]] {
  const [program = '', ...words] = canPin ? ['taskset', '-c', String(core), ...command] : command
  return [program, words]
}

const children = new Set<ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
/** Nothing is left behind, however the bench ends. */
process.on('exit', () => {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** A new folder that is removed when the bench ends. */
export const temporaryFolder = (): string => mkdtempSync(join(folder, 'target-'))

/** Runs a server until it is stopped, and returns once its port accepts connections. Node gets the probe. */
export async function startScript(script: Script): Promise<Running> {
  const { name, file, port, core = cores.measured, flags = [], words = [], env = {} } = script
  const own = temporaryFolder()
  const probe = join(own, 'probe.json')
  const node = [process.execPath, '--import', here('targets/probe.ts'), ...flags, file ?? '', ...words.map(String)]
  const [program, args] = pinned(core, script.command ?? node)
  const errorFile = join(own, 'errors.log')
  const errors = openSync(errorFile, 'w')
  const startMs = performance.now()
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', errors],
    env: { ...process.env, BENCH_PROBE: probe, ...env },
  })
  closeSync(errors)
  children.add(child)
  await listening(port, () => {
    if (child.exitCode !== null)
      throw new Error(`${name} ended before it listened:\n${readFileSync(errorFile, 'utf8')}`)
  })
  return {
    port,
    pid: child.pid ?? 0,
    readyMs: performance.now() - startMs,
    headers: () => [''],
    ...(script.command === undefined && { probeFile: probe }),
    lastErrors: () => readFileSync(errorFile, 'utf8').slice(-1000),
    stop: () => void child.kill(),
  }
}

const startTimeoutMs = 120_000

async function listening(port: number, check: () => void): Promise<void> {
  for (const endMs = Date.now() + startTimeoutMs; Date.now() < endMs; await setTimeout(10)) {
    check()
    const isOpen = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (isOpen) return
  }
  throw new Error(`nothing listens on port ${port}`)
}

/** The path of a file in the folder `bench`. */
export const here = (file: string): string => new URL(`../${file}`, import.meta.url).pathname

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
