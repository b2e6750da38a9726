import { randomInt } from 'node:crypto'
import { spawn } from 'node:child_process'
import type { BenchCase } from './cases.ts'
import { hasFailed } from './load/failures.ts'
import type { LoadPlan, LoadResult, WarmUp } from './load/load.ts'
import { totalMicros } from './load/process.ts'
import { cores, here, pinned, type Running } from './targets/script.ts'

/** One measurement. */
export type Figure = LoadResult & {
  readonly case: string
  readonly target: string
  /** CPU time of the process, of all threads, per request; of paced streams per chunk. */
  readonly cpuMicros: number
}

export type Measurement = {
  readonly running: Running
  readonly upstreamPort: number
  readonly benchCase: BenchCase
  readonly target: string
  readonly warmUp: WarmUp
  readonly seconds: number
}

const usualConnections = 32
/** Another seed for each run and each measurement: a text that a gateway has seen before would come from its cache. */
let seed = randomInt(1e9)

/** The CPU time of a process is hardly affected by a noisy machine, unlike the time on the clock. */
export async function measure({ running, upstreamPort, benchCase, target, ...rest }: Measurement): Promise<Figure> {
  const { workload, connections = usualConnections, perSecond = 0, name } = benchCase
  const { port, pid, probeFile, hasEncoder = false, headers } = running
  const process = { port, upstreamPort, pid, ...(probeFile !== undefined && { probeFile }) }
  const plan: LoadPlan = {
    ...process,
    ...rest,
    hasEncoder,
    workload,
    headers: headers(workload),
    connections,
    perSecond,
    seed: ++seed,
  }
  const result = await load(plan)
  if (hasFailed(result)) throw new Error(`${target} failed ${result.failures} of ${result.requests} requests: ${name}`)
  const cpuMicros = totalMicros(result.threads) / Math.max(1, result.chunks ?? result.requests)
  return { case: name, target, cpuMicros, ...result }
}

async function load(plan: LoadPlan): Promise<LoadResult> {
  const [program, args] = pinned(cores.load, [process.execPath, here('load/load.ts')])
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(plan))
  const chunks = await Array.fromAsync(child.stdout as AsyncIterable<Buffer>)
  return JSON.parse(Buffer.concat(chunks).toString()) as LoadResult
}
