import type { Dispatcher } from 'undici'
import type { Clock } from '../../../base/clock.ts'
import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { pending, nextOf } from '../../../base/pull-stream.ts'
import type { Fault } from '../../../base/fault.ts'
import { createLoopSlice, type LoopSlice } from '../../../base/loop-slice.ts'
import type { SseFrame, SseReader } from '../../../base/sse.ts'
import { createSseReader } from '../../../base/sse.ts'
import type { Exchange, ResponseHead } from './exchange.ts'
import { createExchange } from './exchange.ts'
import { upstreamFailed, faultOfStatus, retryAfterOf, responseTooLong, tooManyCalls } from '../failures.ts'
import type { ReadError } from '../failures.ts'
import type { MemoryLease } from './answer-memory-budget.ts'
import { createCallSlots, type OnQueued } from './call-slots.ts'
import { readDocument } from './document.ts'
import type { JsonRecord } from '../json-values.ts'
import { asText } from '../json-values.ts'
import type { TimeLimits } from './timeouts.ts'

/** A request to an upstream: POST with a body, or GET without one. */
export type UpstreamRequest = {
  readonly headers: Readonly<Record<string, string>>
  /** Appended to the URL. It may have a query. */
  readonly path?: string | undefined
  readonly body?: string
  readonly wantsStream: boolean
  /** True if the call may wait for a free slot. */
  readonly mayQueue: boolean
  /** How long the gateway has waited for its caller to read the response. */
  readonly callerWaitMs?: (() => number) | undefined
}

/** A stream of frames or one JSON object, whichever the upstream sent. */
export type UpstreamResponse =
  | { readonly kind: 'document'; readonly body: JsonRecord }
  | { readonly kind: 'stream'; readonly frames: FrameStream }

export type FrameStream = {
  /** All frames that were completed since the last poll, in an array of the reader's own. */
  poll(): SseFrame[] | typeof pending | undefined
  onReadable(wake: () => void): void
  /** Call when a frame was part of the response and not a ping. Until then the first-byte timeout applies. */
  markStarted(): void
  /** The response is complete. Discards remaining bytes, so that the connection can be reused. */
  complete(): void
  /** Aborts the call, unless it is complete. */
  cancel(): void
}

export type UpstreamCaller = {
  /** Reserves the memory of the response from the lease. The owner of the lease releases it. */
  (outgoing: UpstreamRequest, signal: AbortSignal, lease: MemoryLease): Promise<UpstreamResponse>
  inFlight(): number
}

export type UpstreamCallerSettings = TimeLimits & {
  readonly url: URL
  /** Reads what this vendor's errors say beyond their status. */
  readonly readError?: ReadError | undefined
  /** Maximum number of concurrent calls. Further calls wait for `queueTimeoutMs` or fail as overload. */
  readonly maxConcurrent?: number
  readonly queueTimeoutMs?: number
  /** Limit for a whole response, or for one frame, after decompression. */
  readonly maxAnswerBytes: number
}

export type UpstreamCallerParts = {
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly clock: Clock
  readonly onQueued?: OnQueued | undefined
}

/** Parsing long documents yields to other work after this long. */
const sliceMs = 5
/** Longer error bodies are discarded. */
const maxErrorBytes = 64 * 1024
/** A stream is allowed more bytes than a document, because its frames add overhead and some vendors repeat the text at the end. */
const streamFactor = 8

/** Sends requests to one URL, or below it. It follows no redirect and does not retry. Every failure is a `Fault`. */
export function createCaller(
  settings: UpstreamCallerSettings,
  { dispatcher, clock, onQueued }: UpstreamCallerParts,
): UpstreamCaller {
  const { url, maxConcurrent = Infinity, queueTimeoutMs = 0 } = settings
  const { origin, pathname, search } = url // once, because `URL` computes them each time
  const slice = createLoopSlice(clock, sliceMs)
  const slots = createCallSlots({ maxConcurrent, queueTimeoutMs, clock, onQueued })
  const call = (outgoing: UpstreamRequest, signal: AbortSignal, lease: MemoryLease): Promise<UpstreamResponse> => {
    if (slots.take()) return send(outgoing, signal, lease)
    if (!outgoing.mayQueue) return Promise.reject(tooManyCalls(maxConcurrent))
    return slots.wait(signal).then(() => send(outgoing, signal, lease))
  }
  return Object.assign(call, { inFlight: slots.inFlight })

  function send(outgoing: UpstreamRequest, signal: AbortSignal, lease: MemoryLease): Promise<UpstreamResponse> {
    const { callerWaitMs } = outgoing
    const exchange = createExchange({ clock, limits: settings, signal, callerWaitMs, onSettled: slots.release })
    dispatcher.dispatch(
      {
        origin,
        path: pathBelow(pathname, search, outgoing.path),
        method: outgoing.body === undefined ? 'GET' : 'POST',
        headers: outgoing.headers,
        body: outgoing.body ?? null,
        // The exchange implements the timeouts, because its clock can be replaced in tests.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange.handler,
    )
    const { readError, maxAnswerBytes: maxBytes } = settings
    const receiving = { clock, wantsStream: outgoing.wantsStream, maxBytes, lease, slice, readError }
    return exchange.head.then((head) => receive(exchange, head, receiving))
  }
}

/** `/v1/models`, `?key=a` and `/m:stream?alt=sse` become `/v1/models/m:stream?key=a&alt=sse`. */
function pathBelow(pathname: string, search: string, below = ''): string {
  const [path = '', query] = below.split('?')
  if (query === undefined) return pathname + path + search
  return `${pathname}${path}${search === '' ? '?' : `${search}&`}${query}`
}

type Receiving = {
  readonly clock: Clock
  readonly readError: ReadError | undefined
  readonly wantsStream: boolean
  readonly maxBytes: number
  readonly lease: MemoryLease
  readonly slice: LoopSlice
}

function receive(exchange: Exchange, head: ResponseHead, receiving: Receiving): MaybePromise<UpstreamResponse> {
  const { wantsStream, maxBytes } = receiving
  if (head.status < 200 || head.status > 299) return failWith(exchange, head, receiving)
  if (isStream(head, wantsStream)) return { kind: 'stream', frames: new ExchangeFrames(exchange, maxBytes) }
  if (Number(head.headers['content-length'] ?? 0) > maxBytes) {
    const fault = responseTooLong('a response', maxBytes)
    exchange.cancel(fault)
    throw fault
  }
  return andThen(readDocument(exchange, receiving), (body) => ({ kind: 'document', body }))
}

/** Some open-source servers send streams with a wrong content type, and some send JSON although a stream was requested. */
function isStream({ headers }: ResponseHead, wantsStream: boolean): boolean {
  const type = asText(headers['content-type']).toLowerCase()
  return type.includes('event-stream') || (wantsStream && !type.includes('json'))
}

async function failWith(
  exchange: Exchange,
  { status, headers }: ResponseHead,
  { clock, readError = (error) => error }: Receiving,
): Promise<never> {
  const body = (await readText(exchange, maxErrorBytes)) ?? ''
  throw faultOfStatus(readError({ status, body, retryAfterSeconds: retryAfterOf(headers, clock.nowMs()) }))
}

/** Undefined if the body is too long; the call is then cancelled. A short body has usually arrived with the headers. */
function readText(exchange: Exchange, maxBytes: number): MaybePromise<string | undefined> {
  const body = exchange.bufferedBody()
  if (body === undefined) return readChunks(exchange, maxBytes)
  return body.length > maxBytes ? undefined : body.toString('utf8')
}

async function readChunks(exchange: Exchange, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let byteCount = 0
  for (;;) {
    const read = await nextOf<readonly Buffer[]>(exchange)
    if (read === undefined) break
    for (const chunk of read) byteCount += chunk.length
    if (byteCount > maxBytes) {
      exchange.cancel(responseTooLong('a response', maxBytes))
      return undefined
    }
    chunks.push(...read)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A class, because an object with its own closures would cost every stream more memory. */
class ExchangeFrames implements FrameStream {
  readonly exchange: Exchange
  readonly maxBytes: number
  readonly reader: SseReader
  byteCount = 0
  isOver = false

  constructor(exchange: Exchange, maxBytes: number) {
    this.exchange = exchange
    this.maxBytes = maxBytes
    this.reader = createSseReader(maxBytes)
  }

  onReadable(wake: () => void): void {
    if (this.isOver) wake()
    else this.exchange.onReadable(wake)
  }

  poll(): SseFrame[] | typeof pending | undefined {
    if (this.isOver) return undefined
    const chunks = this.exchange.poll()
    if (chunks === pending) return pending
    this.isOver = chunks === undefined
    const frames = this.read(chunks)
    return this.isOver && frames.length === 0 ? undefined : frames
  }

  read(chunks: readonly Buffer[] | undefined): SseFrame[] {
    if (chunks !== undefined) for (const chunk of chunks) this.byteCount += chunk.length
    const maxStreamBytes = this.maxBytes * streamFactor
    if (this.byteCount > maxStreamBytes) return this.fail(responseTooLong('a stream', maxStreamBytes))
    try {
      return framesOf(this.reader, chunks)
    } catch {
      return this.fail(responseTooLong('a frame', this.maxBytes))
    }
  }

  fail(fault: Fault): never {
    this.exchange.cancel(fault)
    throw fault
  }

  markStarted(): void {
    this.exchange.markStarted()
  }

  complete(): void {
    this.isOver = true
    this.exchange.drain()
  }

  cancel(): void {
    if (!this.isOver) this.exchange.cancel(upstreamFailed('The response was cancelled.'))
  }
}

function framesOf(reader: SseReader, chunks: readonly Buffer[] | undefined): SseFrame[] {
  if (chunks === undefined) return reader.end()
  const first = chunks[0]
  return reader.push(chunks.length === 1 && first ? first : Buffer.concat(chunks))
}
