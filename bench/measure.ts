import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { BenchCase } from './cases.ts'
import { cores, here, nodeOn, type Running } from './script.ts'

export type Figure = {
  readonly target: string
  readonly case: string
  readonly requests: number
  readonly failures: number
  readonly cpuMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const usualConnections = 32
const ticksPerSecond = 100

/** User and system CPU time of the process per request. Unlike wall time it is hardly affected by a noisy machine. */
export async function measure(
  target: Running,
  benchCase: BenchCase,
  { seconds }: { seconds: number },
): Promise<Figure> {
  const before = cpuSeconds(target.pid)
  const { connections = usualConnections, perSecond = 0 } = benchCase
  const bytes = requestBytes(benchCase, target.headers(benchCase))
  const result = await load(bytes, { port: target.port, connections, seconds, perSecond })
  const cpuMicros = ((cpuSeconds(target.pid) - before) * 1e6) / (result.requests * benchCase.perRequest)
  if (result.failures > 0) throw new Error(`${target.name} failed ${result.failures} requests of ${benchCase.name}`)
  return { target: target.name, case: benchCase.name, cpuMicros, ...result }
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function requestBytes({ path, body }: BenchCase, headers: Readonly<Record<string, string>>): Buffer {
  const json = JSON.stringify(body)
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(json)),
    ...headers,
  })
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${json}`,
  )
}

type LoadResult = Pick<Figure, 'requests' | 'failures' | 'p50Ms' | 'p99Ms'>

type Load = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  readonly perSecond: number
}

async function load(bytes: Buffer, { port, connections, seconds, perSecond }: Load): Promise<LoadResult> {
  const words = [port, connections, seconds, perSecond].map(String)
  const [command, args] = nodeOn(cores.load, [here('load/load.ts'), ...words])
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(bytes)
  const chunks = await Array.fromAsync(child.stdout as AsyncIterable<Buffer>)
  return JSON.parse(Buffer.concat(chunks).toString()) as LoadResult
}
