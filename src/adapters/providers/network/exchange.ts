import type { Dispatcher } from 'undici'
import type { Clock } from '../../../base/clock.ts'
import type { Fault } from '../../../base/fault.ts'
import { pending } from '../../../base/pull-stream.ts'
import type { Phase } from '../failures.ts'
import { brokenAnswer, cancelled, faultOfNetwork, timedOut, unread } from '../failures.ts'
import { createDecompression, type Decompression } from './decompression.ts'
import type { TimeLimits, Timeouts } from './timeouts.ts'
import { createTimeouts } from './timeouts.ts'

export type ResponseHead = { readonly status: number; readonly headers: Readonly<Record<string, unknown>> }

/** One HTTP exchange, turned from undici's pushing into our pulling. */
export type Exchange = {
  readonly handler: Dispatcher.DispatchHandler
  /** Settles once the status and headers are there. */
  readonly head: Promise<ResponseHead>
  /** The unread body, where all of it is there; undefined while more is to come. */
  rest(): Buffer | undefined
  /** All bytes since the last time, a flow of them. Throws the Fault that ended it early. */
  poll(): readonly Buffer[] | typeof pending | undefined
  onReadable(wake: () => void): void
  /** The upstream has begun to answer: from now on it is silence that is bounded, and any byte ends it. */
  begun(): void
  /** Nobody needs the rest: it is thrown away, and the connection kept if the rest comes soon. */
  drain(): void
  cancel(fault: Fault): void
}

export type ExchangeParts = {
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly signal: AbortSignal
  /** Told once, when the exchange no longer uses a connection. */
  readonly onSettled: () => void
}

/** Beyond this many unread bytes the upstream is told to wait. */
const highWaterBytes = 64 * 1024
/** An upstream that had to wait for its reader this long is not to blame for a call that took too long. */
const noticedPauseMs = 1000
/** How long an upstream may take to close a stream whose answer is complete. */
const drainMs = 1000

type Line = ExchangeParts & {
  readonly head: PromiseWithResolvers<ResponseHead>
  readonly watch: Timeouts
  readonly onAbort: () => void
  controller: Dispatcher.DispatchController | undefined
  /** Where the answer is compressed. */
  unpacking: Decompression | undefined
  chunks: Buffer[]
  byteCount: number
  /** Since when the upstream waits for its reader, and how long it did before. */
  pausedSinceMs: number | undefined
  pausedMs: number
  stage: 'running' | 'draining' | 'settled'
  hasBegun: boolean
  failure: Fault | undefined
  /** Wakes the reader that waits. */
  wake: (() => void) | undefined
}

export function createExchange(parts: ExchangeParts): Exchange {
  const line: Line = {
    ...parts,
    head: Promise.withResolvers<ResponseHead>(),
    watch: createTimeouts(parts.clock, parts.limits.timeoutMs, (phase) => onDue(line, phase)),
    onAbort: () => cancel(line, cancelled(parts.signal.reason)),
    controller: undefined,
    unpacking: undefined,
    chunks: [],
    byteCount: 0,
    pausedSinceMs: undefined,
    pausedMs: 0,
    stage: 'running',
    hasBegun: false,
    failure: undefined,
    wake: undefined,
  }
  line.watch.enter('connect', parts.limits.connectTimeoutMs)
  parts.signal.addEventListener('abort', line.onAbort)
  if (parts.signal.aborted) line.onAbort()
  return {
    handler: handlerOf(line),
    head: line.head.promise,
    rest: () => rest(line),
    poll: () => take(line),
    onReadable: (wake) => whenMore(line, wake),
    begun: () => begun(line),
    drain: () => drain(line),
    cancel: (fault) => cancel(line, fault),
  }
}

const handlerOf = (line: Line): Dispatcher.DispatchHandler => ({
  onRequestStart(controller) {
    line.controller = controller
    if (line.failure !== undefined) controller.abort(line.failure)
    else line.watch.enter('first-byte', line.limits.firstByteTimeoutMs)
  },
  onResponseStart(_controller, status, headers) {
    if (status < 200 || line.stage === 'settled') return
    // A success may be headers and nothing more for minutes; only its reader knows when the answer begins.
    if (status > 299) begun(line)
    const encoding = headers['content-encoding']
    if (encoding !== undefined) line.unpacking = unpack(line, encoding)
    line.head.resolve({ status, headers })
  },
  onResponseData(_controller, chunk) {
    if (line.stage !== 'running') return
    if (line.unpacking === undefined) add(line, chunk)
    else line.unpacking.push(chunk)
  },
  onResponseEnd: () => (line.unpacking === undefined || line.stage !== 'running' ? settle(line) : line.unpacking.end()),
  onResponseError: (_controller, error) =>
    settle(line, line.pausedSinceMs !== undefined && wasKeptWaiting(line) ? unread(error) : faultOfNetwork(error)),
})

const unpack = (line: Line, encoding: unknown): Decompression | undefined =>
  createDecompression(encoding, {
    onBytes: (bytes) => add(line, bytes),
    onEnd: () => settle(line),
    onBroken: (error) =>
      cancel(line, brokenAnswer('The model’s upstream sent an answer that cannot be unpacked.', error)),
  })

function add(line: Line, chunk: Buffer): void {
  if (line.stage !== 'running') return
  // Mostly it is one, and a list that grows from nothing takes room for many.
  if (line.chunks.length === 0) line.chunks = [chunk]
  else line.chunks.push(chunk)
  line.byteCount += chunk.length
  if (line.byteCount > highWaterBytes) {
    line.pausedSinceMs ??= line.clock.monotonicMs()
    line.controller?.pause()
    line.unpacking?.pause()
  }
  // One network read can bring many chunks: the reader wakes after the last of them and takes all.
  line.wake?.()
}

function take(line: Line): readonly Buffer[] | typeof pending | undefined {
  if (line.chunks.length > 0) return takeChunks(line)
  if (line.failure !== undefined) throw line.failure
  return line.stage === 'running' ? pending : undefined
}

function whenMore(line: Line, wake: () => void): void {
  if (line.chunks.length > 0 || line.stage !== 'running') return wake()
  // Somebody who still waits, and only looked in between, has not begun to wait anew.
  if (line.wake === undefined && line.hasBegun) line.watch.touch()
  line.wake = wake
}

function begun(line: Line): void {
  if (line.hasBegun || line.stage !== 'running') return
  line.hasBegun = true
  line.watch.enter('idle', line.limits.idleTimeoutMs)
}

function rest(line: Line): Buffer | undefined {
  if (line.stage !== 'settled' || line.failure !== undefined) return undefined
  const [first = empty, ...others] = takeChunks(line)
  return others.length === 0 ? first : Buffer.concat([first, ...others])
}

const empty = Buffer.alloc(0)

function takeChunks(line: Line): readonly Buffer[] {
  const taken = line.chunks
  line.wake = undefined
  line.chunks = []
  line.byteCount = 0
  line.pausedMs = pausedMs(line)
  line.pausedSinceMs = undefined
  line.controller?.resume()
  line.unpacking?.resume()
  return taken
}

const pausedMs = ({ clock, pausedMs: before, pausedSinceMs }: Line): number =>
  pausedSinceMs === undefined ? before : before + clock.monotonicMs() - pausedSinceMs

const wasKeptWaiting = (line: Line): boolean => pausedMs(line) >= noticedPauseMs

function drain(line: Line): void {
  if (line.stage !== 'running') return
  line.stage = 'draining'
  takeChunks(line)
  line.watch.enter('idle', drainMs)
}

function cancel(line: Line, fault: Fault): void {
  if (line.stage === 'settled') return
  line.chunks = []
  settle(line, fault)
  line.controller?.abort(fault)
}

function settle(line: Line, failure?: Fault): void {
  if (line.stage === 'settled') return
  line.stage = 'settled'
  line.failure = failure
  line.watch.stop()
  line.unpacking?.stop()
  line.signal.removeEventListener('abort', line.onAbort)
  if (failure !== undefined) line.head.reject(failure)
  line.wake?.()
  line.onSettled()
}

/** Silence counts only while somebody listens: a slow caller is not the upstream's fault. */
function onDue(line: Line, phase: Phase): void {
  const nobodyListens = phase === 'idle' && line.stage === 'running' && line.wake === undefined
  if (nobodyListens) line.watch.enter('idle', line.limits.idleTimeoutMs)
  else cancel(line, phase === 'total' && wasKeptWaiting(line) ? unread() : timedOut(phase))
}
