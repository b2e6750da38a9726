import type { Dispatcher } from 'undici'
import type { Clock } from '../../../base/clock.ts'
import type { Fault } from '../../../base/fault.ts'
import { pending } from '../../../base/pull-stream.ts'
import type { Phase } from '../failures.ts'
import { upstreamFailed, cancelled, faultOfNetwork, timedOut, responseNotRead } from '../failures.ts'
import { createDecompression, type Decompression } from './decompression.ts'
import type { TimeLimits, Timeouts } from './timeouts.ts'
import { createTimeouts } from './timeouts.ts'

export type ResponseHead = { readonly status: number; readonly headers: Readonly<Record<string, unknown>> }

/** One HTTP request and response, as a pull stream over undici's push-based handler. */
export type Exchange = {
  readonly handler: Dispatcher.DispatchHandler
  /** Resolves when the status and headers have arrived. */
  readonly head: Promise<ResponseHead>
  /** The unread body, if it has arrived completely. Undefined while more is expected. */
  bufferedBody(): Buffer | undefined
  /** All bytes since the last poll. Throws the `Fault` that ended the exchange early. */
  poll(): readonly Buffer[] | typeof pending | undefined
  onReadable(wake: () => void): void
  /** Call when the first event has arrived. The idle timeout then replaces the first-byte timeout. */
  markStarted(): void
  /** Discards the remaining bytes. The connection is reused if they arrive soon. */
  drain(): void
  cancel(fault: Fault): void
}

export type ExchangeParts = {
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly signal: AbortSignal
  /** Called once, when the exchange no longer uses a connection. */
  readonly onSettled: () => void
}

/** With more unread bytes than this, the connection is paused (back-pressure). */
const highWaterBytes = 64 * 1024
/** If the connection was paused for this long, a timeout is the reader's fault and not the upstream's. */
const longPauseMs = 1000
/** How long an upstream may take to close the stream after the response is complete. */
const drainMs = 1000

type ExchangeState = ExchangeParts & {
  readonly head: PromiseWithResolvers<ResponseHead>
  readonly timeouts: Timeouts
  readonly onAbort: () => void
  controller: Dispatcher.DispatchController | undefined
  /** Set if the response is compressed. */
  decompression: Decompression | undefined
  chunks: Buffer[]
  byteCount: number
  /** Start of the current pause, and the total of the earlier ones. */
  pausedSinceMs: number | undefined
  pausedMs: number
  stage: 'running' | 'draining' | 'settled'
  hasStarted: boolean
  failure: Fault | undefined
  /** Wakes the waiting reader. */
  wake: (() => void) | undefined
}

export function createExchange(parts: ExchangeParts): Exchange {
  const state: ExchangeState = {
    ...parts,
    head: Promise.withResolvers<ResponseHead>(),
    timeouts: createTimeouts(parts.clock, parts.limits.timeoutMs, (phase) => onDue(state, phase)),
    onAbort: () => cancel(state, cancelled(parts.signal.reason)),
    controller: undefined,
    decompression: undefined,
    chunks: [],
    byteCount: 0,
    pausedSinceMs: undefined,
    pausedMs: 0,
    stage: 'running',
    hasStarted: false,
    failure: undefined,
    wake: undefined,
  }
  state.timeouts.enter('connect', parts.limits.connectTimeoutMs)
  parts.signal.addEventListener('abort', state.onAbort)
  if (parts.signal.aborted) state.onAbort()
  return {
    handler: handlerOf(state),
    head: state.head.promise,
    bufferedBody: () => bufferedBody(state),
    poll: () => poll(state),
    onReadable: (wake) => onReadable(state, wake),
    markStarted: () => markStarted(state),
    drain: () => drain(state),
    cancel: (fault) => cancel(state, fault),
  }
}

const handlerOf = (state: ExchangeState): Dispatcher.DispatchHandler => ({
  onRequestStart(controller) {
    state.controller = controller
    if (state.failure !== undefined) controller.abort(state.failure)
    else state.timeouts.enter('first-byte', state.limits.firstByteTimeoutMs)
  },
  onResponseStart(_controller, status, headers) {
    if (status < 200 || state.stage === 'settled') return
    // After a 2xx status an upstream may send only pings for minutes, so the reader decides when the response has started.
    if (status > 299) markStarted(state)
    const encoding = headers['content-encoding']
    if (encoding !== undefined) state.decompression = decompress(state, encoding)
    state.head.resolve({ status, headers })
  },
  onResponseData(_controller, chunk) {
    if (state.stage !== 'running') return
    if (state.decompression === undefined) add(state, chunk)
    else state.decompression.push(chunk)
  },
  onResponseEnd: () =>
    state.decompression === undefined || state.stage !== 'running' ? settle(state) : state.decompression.end(),
  onResponseError: (_controller, error) =>
    settle(
      state,
      state.pausedSinceMs !== undefined && wasPausedLong(state) ? responseNotRead(error) : faultOfNetwork(error),
    ),
})

const decompress = (state: ExchangeState, encoding: unknown): Decompression | undefined =>
  createDecompression(encoding, {
    onBytes: (bytes) => add(state, bytes),
    onEnd: () => settle(state),
    onBroken: (error) =>
      cancel(state, upstreamFailed('The model’s upstream sent a response that cannot be decompressed.', error)),
  })

function add(state: ExchangeState, chunk: Buffer): void {
  if (state.stage !== 'running') return
  // Usually there is one chunk. A literal array is cheaper than `push` on an empty one, which reserves space for many.
  if (state.chunks.length === 0) state.chunks = [chunk]
  else state.chunks.push(chunk)
  state.byteCount += chunk.length
  if (state.byteCount > highWaterBytes) {
    state.pausedSinceMs ??= state.clock.monotonicMs()
    state.controller?.pause()
    state.decompression?.pause()
  }
  // One network read can deliver several chunks. The reader runs after the last of them and takes all.
  state.wake?.()
}

function poll(state: ExchangeState): readonly Buffer[] | typeof pending | undefined {
  if (state.chunks.length > 0) return takeChunks(state)
  if (state.failure !== undefined) throw state.failure
  return state.stage === 'running' ? pending : undefined
}

function onReadable(state: ExchangeState, wake: () => void): void {
  if (state.chunks.length > 0 || state.stage !== 'running') return wake()
  // A reader that was already waiting must not restart the idle timeout by polling.
  if (state.wake === undefined && state.hasStarted) state.timeouts.touch()
  state.wake = wake
}

function markStarted(state: ExchangeState): void {
  if (state.hasStarted || state.stage !== 'running') return
  state.hasStarted = true
  state.timeouts.enter('idle', state.limits.idleTimeoutMs)
}

function bufferedBody(state: ExchangeState): Buffer | undefined {
  if (state.stage !== 'settled' || state.failure !== undefined) return undefined
  const [first = empty, ...others] = takeChunks(state)
  return others.length === 0 ? first : Buffer.concat([first, ...others])
}

const empty = Buffer.alloc(0)

function takeChunks(state: ExchangeState): readonly Buffer[] {
  const taken = state.chunks
  state.wake = undefined
  state.chunks = []
  state.byteCount = 0
  state.pausedMs = pausedMs(state)
  state.pausedSinceMs = undefined
  state.controller?.resume()
  state.decompression?.resume()
  return taken
}

const pausedMs = ({ clock, pausedMs: before, pausedSinceMs }: ExchangeState): number =>
  pausedSinceMs === undefined ? before : before + clock.monotonicMs() - pausedSinceMs

const wasPausedLong = (state: ExchangeState): boolean => pausedMs(state) >= longPauseMs

function drain(state: ExchangeState): void {
  if (state.stage !== 'running') return
  state.stage = 'draining'
  takeChunks(state)
  state.timeouts.enter('idle', drainMs)
}

function cancel(state: ExchangeState, fault: Fault): void {
  if (state.stage === 'settled') return
  state.chunks = []
  settle(state, fault)
  state.controller?.abort(fault)
}

function settle(state: ExchangeState, failure?: Fault): void {
  if (state.stage === 'settled') return
  state.stage = 'settled'
  state.failure = failure
  state.timeouts.stop()
  state.decompression?.stop()
  state.signal.removeEventListener('abort', state.onAbort)
  if (failure !== undefined) state.head.reject(failure)
  state.wake?.()
  state.onSettled()
}

/** The idle timeout counts only while a reader waits, because a slow caller is not the upstream's fault. */
function onDue(state: ExchangeState, phase: Phase): void {
  const hasNoReader = phase === 'idle' && state.stage === 'running' && state.wake === undefined
  if (hasNoReader) state.timeouts.enter('idle', state.limits.idleTimeoutMs)
  else cancel(state, phase === 'total' && wasPausedLong(state) ? responseNotRead() : timedOut(phase))
}
