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
  /** How long the gateway has waited for its caller to read the response. */
  readonly callerWaitMs?: (() => number) | undefined
  /** Called once, when the exchange no longer uses a connection. */
  readonly onSettled: () => void
}

/** With more unread bytes than this, the connection is paused (back-pressure). */
const highWaterBytes = 64 * 1024
/**
 * If the gateway waited for the caller's socket for this long, a timeout is the caller's fault and not the upstream's. A
 * connection that is paused because the gateway itself is busy with the response is neither's.
 */
const longWaitMs = 1000
/** How long an upstream may take to close the stream after the response is complete. */
const drainMs = 1000

/** A class, because an object with its own closures would cost every call 2 KB. */
class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly parts: ExchangeParts
  /** A function and not `this`, because Node wraps a listener object in a closure that outlives young collections. */
  readonly onAbort = (): void => this.cancel(cancelled(this.parts.signal.reason))
  readonly settledHead = Promise.withResolvers<ResponseHead>()
  readonly timeouts: Timeouts
  controller: Dispatcher.DispatchController | undefined = undefined
  /** Set if the response is compressed. */
  decompression: Decompression | undefined = undefined
  chunks: Buffer[] = []
  byteCount = 0
  /** How long the gateway had waited for the caller when the current pause began; undefined while not paused. */
  waitBeforePauseMs: number | undefined = undefined
  stage: 'running' | 'draining' | 'settled' = 'running'
  hasStarted = false
  failure: Fault | undefined = undefined
  /** Wakes the waiting reader. */
  wake: (() => void) | undefined = undefined

  constructor(parts: ExchangeParts) {
    this.parts = parts
    this.timeouts = createTimeouts(parts.clock, parts.limits.timeoutMs, this)
    this.timeouts.enter('connect', parts.limits.connectTimeoutMs)
    parts.signal.addEventListener('abort', this.onAbort)
    if (parts.signal.aborted) this.onAbort()
  }

  get handler(): Dispatcher.DispatchHandler {
    return this
  }

  get head(): Promise<ResponseHead> {
    return this.settledHead.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.failure !== undefined) controller.abort(this.failure)
    else this.timeouts.enter('first-byte', this.parts.limits.firstByteTimeoutMs)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHead['headers']): void {
    if (status < 200 || this.stage === 'settled') return
    // After a 2xx status an upstream may send only pings for minutes, so the reader decides when the response has started.
    if (status > 299) this.markStarted()
    const encoding = headers['content-encoding']
    if (encoding !== undefined) this.decompression = decompress(this, encoding)
    this.settledHead.resolve({ status, headers })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.stage !== 'running') return
    if (this.decompression === undefined) this.add(chunk)
    else this.decompression.push(chunk)
  }

  onResponseEnd(): void {
    if (this.decompression === undefined || this.stage !== 'running') this.settle()
    else this.decompression.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { waitBeforePauseMs } = this
    const isUnread = waitBeforePauseMs !== undefined && this.callerWaitMs() - waitBeforePauseMs >= longWaitMs
    this.settle(isUnread ? responseNotRead(error) : faultOfNetwork(error))
  }

  add(chunk: Buffer): void {
    if (this.stage !== 'running') return
    // Usually there is one chunk. A literal array is cheaper than `push` on an empty one, which reserves space for many.
    if (this.chunks.length === 0) this.chunks = [chunk]
    else this.chunks.push(chunk)
    this.byteCount += chunk.length
    if (this.byteCount > highWaterBytes) {
      this.waitBeforePauseMs ??= this.callerWaitMs()
      this.controller?.pause()
      this.decompression?.pause()
    }
    // One network read can deliver several chunks. The reader runs after the last of them and takes all.
    this.wake?.()
  }

  poll(): readonly Buffer[] | typeof pending | undefined {
    if (this.chunks.length > 0) return this.takeChunks()
    if (this.failure !== undefined) throw this.failure
    return this.stage === 'running' ? pending : undefined
  }

  onReadable(wake: () => void): void {
    if (this.chunks.length > 0 || this.stage !== 'running') return wake()
    // A reader that was already waiting must not restart the idle timeout by polling.
    if (this.wake === undefined && this.hasStarted) this.timeouts.touch()
    this.wake = wake
  }

  markStarted(): void {
    if (this.hasStarted || this.stage !== 'running') return
    this.hasStarted = true
    this.timeouts.enter('idle', this.parts.limits.idleTimeoutMs)
  }

  bufferedBody(): Buffer | undefined {
    if (this.stage !== 'settled' || this.failure !== undefined) return undefined
    const chunks = this.takeChunks()
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
  }

  takeChunks(): readonly Buffer[] {
    const taken = this.chunks
    this.wake = undefined
    this.chunks = []
    this.byteCount = 0
    this.waitBeforePauseMs = undefined
    this.controller?.resume()
    this.decompression?.resume()
    return taken
  }

  callerWaitMs(): number {
    return this.parts.callerWaitMs?.() ?? 0
  }

  drain(): void {
    if (this.stage !== 'running') return
    this.stage = 'draining'
    this.takeChunks()
    this.timeouts.enter('idle', drainMs)
  }

  cancel(fault: Fault): void {
    if (this.stage === 'settled') return
    this.chunks = []
    this.settle(fault)
    this.controller?.abort(fault)
  }

  settle(failure?: Fault): void {
    if (this.stage === 'settled') return
    this.stage = 'settled'
    this.failure = failure
    this.timeouts.stop()
    this.decompression?.stop()
    this.parts.signal.removeEventListener('abort', this.onAbort)
    if (failure !== undefined) this.settledHead.reject(failure)
    this.wake?.()
    this.parts.onSettled()
  }

  /** The idle timeout counts only while a reader waits, because a slow caller is not the upstream's fault. */
  onDue(phase: Phase): void {
    const hasNoReader = phase === 'idle' && this.stage === 'running' && this.wake === undefined
    if (hasNoReader) this.timeouts.enter('idle', this.parts.limits.idleTimeoutMs)
    else this.cancel(phase === 'total' && this.callerWaitMs() >= longWaitMs ? responseNotRead() : timedOut(phase))
  }
}

const decompress = (exchange: HttpExchange, encoding: unknown): Decompression | undefined =>
  createDecompression(encoding, {
    onBytes: (bytes) => exchange.add(bytes),
    onEnd: () => exchange.settle(),
    onBroken: (error) =>
      exchange.cancel(upstreamFailed('The model’s upstream sent a response that cannot be decompressed.', error)),
  })

export const createExchange = (parts: ExchangeParts): Exchange => new HttpExchange(parts)
