import { setTimeout } from 'node:timers/promises'
import { monotonicMs } from './monotonic.ts'
import { createDelays } from './delays.ts'
import { hasFailed } from './failures.ts'
import { openConnection, type Connection } from './connection.ts'
import { readProcess, readResidentKb, totalMicros, useBetween, type ProcessReading, type ThreadUse } from './process.ts'
import { quantilesOf } from './quantiles.ts'
import type { Waits } from '../targets/trace-probe.ts'
import { readProbe, type ProbeReading } from './probe-reading.ts'
import { countEncoderTexts } from './encoder-texts.ts'
import { createRequests, type Workload } from './workload.ts'

/**
 * A load generator over raw sockets, so that it costs far less than the server. `node load.ts` with a `LoadPlan` as JSON on
 * standard input; prints a `LoadResult`. It sends without a pause through warm-up and measurement, and reads the CPU time of the measured
 * process from the kernel at the start and the end of each window.
 */
export type LoadPlan = {
  readonly port: number
  readonly upstreamPort: number
  /** The measured process. */
  readonly pid: number
  readonly workload: Workload
  /** Where the measured process writes its readings, if it has a probe. */
  readonly probeFile?: string
  /** Whether its metrics count the texts that its encoder was asked for. */
  readonly hasEncoder: boolean
  readonly headers: readonly string[]
  readonly connections: number
  /** A fixed rate, with latency counted from when a request is due. 0: each connection sends its next request at once. */
  readonly perSecond: number
  readonly warmUp: WarmUp
  readonly seconds: number
  readonly seed: number
}

/** Windows repeat until the cost of two neighbours differs by less than the tolerance. */
export type WarmUp = {
  readonly windowSeconds: number
  /** A cost may stay the same for seconds while V8 still compiles, so two equal windows before this count as nothing. */
  readonly minSeconds: number
  readonly maxSeconds: number
  readonly tolerance: number
}

export type LoadResult = {
  readonly requests: number
  readonly failures: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly threads: Readonly<Record<string, ThreadUse>>
  /** Memory of the process, on average. */
  readonly residentKb: number
  readonly warmUpSeconds: number
  readonly hasSettled: boolean
  /** Of the main thread: bytes allocated by JavaScript, and pauses for garbage collection. */
  readonly heap?: { readonly allocatedBytes: number; readonly pausesMs: number; readonly longestPauseMs: number }
  readonly waits?: Waits
  /** Texts that the encoder was asked for, also those that it did not read. */
  readonly encoderTexts?: number
  /** CPU of the load generator itself per request. */
  readonly loadMicros: number
  /** Of paced streams: chunks that arrived, and how long after they were sent. */
  readonly chunks?: number
  readonly chunkP50Ms?: number
  readonly chunkP99Ms?: number
}

const plan = JSON.parse(Buffer.concat(await Array.fromAsync(process.stdin)).toString()) as LoadPlan
const { connections, perSecond, warmUp, pid } = plan
const nextRequest = createRequests(plan)
const delays = plan.workload.stream === 'paced' ? createDelays(plan.upstreamPort) : undefined
const beginMs = monotonicMs()
/** Paced streams start evenly spread over a second, so that they do not all send in the same millisecond. */
const spreadMs = delays === undefined ? 0 : 1000 / connections
let begun = 0
let isStopping = false
let counted = { requests: 0, failures: 0, latenciesMs: [] as number[] }

const open = Array.from({ length: connections }, (_, at) => drive(at))
const result = await run()
isStopping = true
for (const { connection } of open) connection().close()
await Promise.all(open.map(({ closed }) => closed))
process.stdout.write(`${JSON.stringify(result)}\n`)

function drive(at: number): { connection: () => Connection; closed: Promise<void> } {
  const closed = Promise.withResolvers<void>()
  let startedMs = 0
  const send = (fromMs: number): void => {
    if (isStopping) return
    startedMs = fromMs
    connection.send(nextRequest())
  }
  function sendNext(): void {
    const nowMs = monotonicMs()
    const isFirst = startedMs === 0
    const dueMs = perSecond > 0 ? beginMs + (begun++ * 1000) / perSecond : isFirst ? nowMs + at * spreadMs : nowMs
    if (dueMs <= nowMs) send(perSecond > 0 ? dueMs : nowMs)
    else void setTimeout(dueMs - nowMs).then(() => send(monotonicMs())) // timers are coarse, so the latency starts when the request is sent
  }
  const connection = openConnection(plan.port, plan.workload.dialect, {
    onIdle: sendNext,
    onAnswer(isOk) {
      counted.requests++
      if (!isOk) counted.failures++
      counted.latenciesMs.push(monotonicMs() - startedMs)
    },
    onClose: closed.resolve,
    ...(delays && { onText: delays.arrived }),
  })
  return { connection: () => connection, closed: closed.promise }
}

async function run(): Promise<LoadResult> {
  const { warmUpSeconds, hasSettled } = await warm()
  const before = await probe()
  const textsBefore = await countEncoderTexts(plan)
  delays?.start()
  const measured = await measureFor(plan.seconds)
  const chunks = await delays?.end()
  const after = await probe()
  const encoderTexts = (await countEncoderTexts(plan)) - textsBefore
  const heap = before &&
    after && {
      allocatedBytes: after.allocatedBytes - before.allocatedBytes,
      pausesMs: after.pausesMs - before.pausesMs,
      longestPauseMs: after.longestPauseMs,
    }
  const waits = after?.waits
  const seen = { ...(heap && { heap }), ...(waits && { waits }), ...(plan.hasEncoder && { encoderTexts }) }
  return { ...measured, warmUpSeconds, hasSettled, ...chunks, ...seen }
}

async function probe(): Promise<ProbeReading | undefined> {
  return plan.probeFile === undefined ? undefined : readProbe(pid, plan.probeFile)
}

async function warm(): Promise<{ warmUpSeconds: number; hasSettled: boolean }> {
  let last = Number.POSITIVE_INFINITY
  let warmUpSeconds = 0
  while (warmUpSeconds < warmUp.maxSeconds) {
    const { threads, requests, failures } = await measureFor(warmUp.windowSeconds)
    warmUpSeconds += warmUp.windowSeconds
    if (hasFailed({ requests, failures })) break
    const cost = totalMicros(threads) / Math.max(1, requests)
    const isSettled = warmUpSeconds >= warmUp.minSeconds && Math.abs(cost - last) < warmUp.tolerance * cost
    if (isSettled) return { warmUpSeconds, hasSettled: true }
    last = cost
  }
  return { warmUpSeconds, hasSettled: false }
}

type Window = Omit<LoadResult, 'warmUpSeconds' | 'hasSettled'>

async function measureFor(seconds: number): Promise<Window> {
  const before: ProcessReading = readProcess(pid)
  const ownBefore = process.cpuUsage()
  counted = { requests: 0, failures: 0, latenciesMs: [] }
  const residentKb: number[] = []
  const sampler = setInterval(() => residentKb.push(readResidentKb(pid)), 250)
  await setTimeout(seconds * 1000)
  clearInterval(sampler)
  const after = readProcess(pid)
  const own = process.cpuUsage(ownBefore)
  const { requests, failures, latenciesMs } = counted
  return {
    requests,
    failures,
    ...quantilesOf(latenciesMs),
    threads: useBetween(before, after),
    residentKb: residentKb.reduce((sum, kb) => sum + kb, 0) / residentKb.length,
    loadMicros: (own.user + own.system) / Math.max(1, requests),
  }
}
