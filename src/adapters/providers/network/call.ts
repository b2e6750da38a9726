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
import { brokenAnswer, faultOfStatus, retryAfterOf, tooLong, tooManyCalls } from '../failures.ts'
import type { MemoryLease } from './answer-memory-budget.ts'
import { readDocument } from './document.ts'
import type { JsonRecord } from '../json-values.ts'
import { asText } from '../json-values.ts'
import type { TimeLimits } from './timeouts.ts'

/** One POST to an upstream. */
export type UpstreamRequest = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly wantsStream: boolean
}

/** What came back: a stream of frames, or one JSON object, whichever the upstream chose to send. */
export type UpstreamAnswer =
  | { readonly kind: 'document'; readonly body: JsonRecord }
  | { readonly kind: 'stream'; readonly reads: FrameStream }

export type FrameStream = {
  /** All frames that have become whole since the last time, a flow of them. */
  poll(): readonly SseFrame[] | typeof pending | undefined
  onReadable(wake: () => void): void
  /** A frame was part of an answer, and no ping: until one is, the answer has not begun. */
  begun(): void
  /** The answer is complete: what may still come is thrown away, and the connection can be used again. */
  complete(): void
  /** Ends the call at once, unless it is complete. */
  cancel(): void
}

/** What is kept of the answer is taken from the lease, whose owner releases it. */
export type UpstreamCaller = (
  outgoing: UpstreamRequest,
  signal: AbortSignal,
  lease: MemoryLease,
) => Promise<UpstreamAnswer>

export type UpstreamCallerSettings = TimeLimits & {
  readonly url: URL
  /** Calls under way at once; one more is refused as overload. */
  readonly maxConcurrent?: number
  /** Bytes of a whole answer, or of one frame, once decompressed. */
  readonly maxAnswerBytes: number
}

export type UpstreamCallerParts = { readonly dispatcher: Dispatcher; readonly clock: Clock }

/** Long documents that are read at the same time let others be served after this long. */
const sliceMs = 5
/** Error bodies are read only this far. */
const maxErrorBytes = 64 * 1024
/** A stream says everything in frames that are many times as long, and some vendors repeat at the end what they said. */
const streamFactor = 8

/** The network to one address. No redirects, no retries: what is not foreseen here is a Fault. */
export function createCaller(
  settings: UpstreamCallerSettings,
  { dispatcher, clock }: UpstreamCallerParts,
): UpstreamCaller {
  const { url, maxConcurrent = Infinity } = settings
  const slice = createLoopSlice(clock, sliceMs)
  let underWay = 0
  return (outgoing, signal, lease) => {
    if (underWay >= maxConcurrent) return Promise.reject(tooManyCalls(maxConcurrent))
    underWay += 1
    const onSettled = (): void => void (underWay -= 1)
    const exchange = createExchange({ clock, limits: settings, signal, onSettled })
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: outgoing.headers,
        body: outgoing.body,
        // Time is kept by the exchange, on a clock that tests can turn.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange.handler,
    )
    const receiving = { clock, wantsStream: outgoing.wantsStream, maxBytes: settings.maxAnswerBytes, lease, slice }
    return exchange.head.then((head) => receive(exchange, head, receiving))
  }
}

type Receiving = {
  readonly clock: Clock
  readonly wantsStream: boolean
  readonly maxBytes: number
  readonly lease: MemoryLease
  readonly slice: LoopSlice
}

function receive(exchange: Exchange, head: ResponseHead, receiving: Receiving): MaybePromise<UpstreamAnswer> {
  const { clock, wantsStream, maxBytes } = receiving
  if (head.status < 200 || head.status > 299) return refusal(exchange, head, clock)
  if (isStream(head, wantsStream)) return { kind: 'stream', reads: readFrames(exchange, maxBytes) }
  if (Number(head.headers['content-length'] ?? 0) > maxBytes) {
    const fault = tooLong('an answer', maxBytes)
    exchange.cancel(fault)
    throw fault
  }
  return andThen(readDocument(exchange, receiving), (body) => ({ kind: 'document', body }))
}

/** Open servers label streams carelessly, and some answer with JSON although a stream was asked for. */
function isStream({ headers }: ResponseHead, wantsStream: boolean): boolean {
  const type = asText(headers['content-type']).toLowerCase()
  return type.includes('event-stream') || (wantsStream && !type.includes('json'))
}

async function refusal(exchange: Exchange, { status, headers }: ResponseHead, clock: Clock): Promise<never> {
  const body = (await readText(exchange, maxErrorBytes)) ?? ''
  throw faultOfStatus({ status, body, retryAfterSeconds: retryAfterOf(headers, clock.nowMs()) })
}

/** As far as allowed; the call is then over. A short one mostly comes with its head. */
function readText(exchange: Exchange, maxBytes: number): MaybePromise<string | undefined> {
  const rest = exchange.rest()
  if (rest === undefined) return readOn(exchange, maxBytes)
  return rest.length > maxBytes ? undefined : rest.toString('utf8')
}

async function readOn(exchange: Exchange, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let byteCount = 0
  for (;;) {
    const read = await nextOf<readonly Buffer[]>(exchange)
    if (read === undefined) break
    for (const chunk of read) byteCount += chunk.length
    if (byteCount > maxBytes) {
      exchange.cancel(tooLong('an answer', maxBytes))
      return undefined
    }
    chunks.push(...read)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readFrames(exchange: Exchange, maxBytes: number): FrameStream {
  const reader = createSseReader(maxBytes)
  const maxStreamBytes = maxBytes * streamFactor
  let byteCount = 0
  let isOver = false
  const fail = (fault: Fault): never => {
    exchange.cancel(fault)
    throw fault
  }
  const read = (chunks: readonly Buffer[] | undefined): SseFrame[] => {
    for (const chunk of chunks ?? []) byteCount += chunk.length
    if (byteCount > maxStreamBytes) return fail(tooLong('a stream', maxStreamBytes))
    try {
      return framesOf(reader, chunks)
    } catch {
      return fail(tooLong('a frame', maxBytes))
    }
  }
  return {
    onReadable: (wake) => (isOver ? wake() : exchange.onReadable(wake)),
    poll() {
      if (isOver) return undefined
      const chunks = exchange.poll()
      if (chunks === pending) return pending
      isOver = chunks === undefined
      const frames = read(chunks)
      return isOver && frames.length === 0 ? undefined : frames
    },
    begun: exchange.begun,
    complete() {
      isOver = true
      exchange.drain()
    },
    cancel() {
      if (!isOver) exchange.cancel(brokenAnswer('The answer was no longer wanted.'))
    },
  }
}

function framesOf(reader: SseReader, chunks: readonly Buffer[] | undefined): SseFrame[] {
  if (chunks === undefined) return reader.end()
  const first = chunks[0]
  return reader.push(chunks.length === 1 && first ? first : Buffer.concat(chunks))
}
