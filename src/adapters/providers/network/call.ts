import type { Dispatcher } from 'undici'
import type { Clock } from '../../../base/clock.ts'
import { isPending, type Eventually } from '../../../base/eventually.ts'
import { later, nextOf } from '../../../base/flow.ts'
import type { SseFrame, SseReader } from '../../../base/sse.ts'
import { createSseReader } from '../../../base/sse.ts'
import type { Exchange, Head } from './exchange.ts'
import { createExchange } from './exchange.ts'
import { brokenAnswer, faultOfStatus, retryAfterOf, tooManyCalls } from '../failures.ts'
import type { Json } from '../reading.ts'
import { parseRecord, textOf } from '../reading.ts'
import type { TimeLimits } from './watch.ts'

/** One POST to an upstream. */
export type Outgoing = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly wantsStream: boolean
}

/** What came back: a stream of frames, or one JSON object, whichever the upstream chose to send. */
export type Answer =
  | { readonly kind: 'document'; readonly body: Json }
  | { readonly kind: 'stream'; readonly reads: FrameReads }

export type FrameReads = {
  /** All frames that have become whole since the last time, a flow of them. */
  take(): readonly SseFrame[] | typeof later | undefined
  whenMore(wake: () => void): void
  /** The answer is complete: what may still come is thrown away, and the connection can be used again. */
  complete(): void
  /** Ends the call at once, unless it is complete. */
  cancel(): void
}

export type Caller = (outgoing: Outgoing, signal: AbortSignal) => Promise<Answer>

export type CallerSettings = TimeLimits & {
  readonly url: URL
  /** Calls under way at once; one more is refused as overload. */
  readonly maxConcurrent?: number
}

export type CallerParts = { readonly dispatcher: Dispatcher; readonly clock: Clock }

/** A whole answer may be this long; error bodies are read only this far. */
const maxDocumentBytes = 64 * 1024 * 1024
const maxErrorBytes = 64 * 1024

/** The network to one address. No redirects, no retries: what is not foreseen here is a Fault. */
export function createCaller(settings: CallerSettings, { dispatcher, clock }: CallerParts): Caller {
  const { url, maxConcurrent = Infinity } = settings
  let underWay = 0
  return (outgoing, signal) => {
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
    return exchange.head.then((head) => receive(exchange, head, { clock, wantsStream: outgoing.wantsStream }))
  }
}

type Receiving = { readonly clock: Clock; readonly wantsStream: boolean }

function receive(exchange: Exchange, head: Head, { clock, wantsStream }: Receiving): Eventually<Answer> {
  if (head.status < 200 || head.status > 299) return refusal(exchange, head, clock)
  if (isStream(head, wantsStream)) return { kind: 'stream', reads: readFrames(exchange) }
  const text = readText(exchange, maxDocumentBytes)
  return isPending(text) ? text.then(documentOf) : documentOf(text)
}

function documentOf(text: string | undefined): Answer {
  if (text === undefined) throw brokenAnswer('The model’s upstream sent an answer that is too long.')
  const body = parseRecord(text)
  if (body === undefined) throw brokenAnswer('The model’s upstream sent something that is no JSON object.')
  return { kind: 'document', body }
}

/** Open servers label streams carelessly, and some answer with JSON although a stream was asked for. */
function isStream({ headers }: Head, wantsStream: boolean): boolean {
  const type = textOf(headers['content-type']).toLowerCase()
  return type.includes('event-stream') || (wantsStream && !type.includes('json'))
}

async function refusal(exchange: Exchange, { status, headers }: Head, clock: Clock): Promise<never> {
  const body = (await readText(exchange, maxErrorBytes)) ?? ''
  throw faultOfStatus({ status, body, retryAfterSeconds: retryAfterOf(headers, clock.nowMs()) })
}

/** Undefined where the body is longer than allowed; the call is then over. A short one mostly comes with its head. */
function readText(exchange: Exchange, maxBytes: number): Eventually<string | undefined> {
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
      exchange.cancel(brokenAnswer('The model’s upstream sent an answer that is too long.'))
      return undefined
    }
    chunks.push(...read)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readFrames(exchange: Exchange): FrameReads {
  const reader = createSseReader()
  let isOver = false
  return {
    whenMore: (wake) => (isOver ? wake() : exchange.whenMore(wake)),
    take() {
      if (isOver) return undefined
      const chunks = exchange.take()
      if (chunks === later) return later
      isOver = chunks === undefined
      const frames = framesOf(reader, chunks, exchange.cancel)
      return isOver && frames.length === 0 ? undefined : frames
    },
    complete() {
      isOver = true
      exchange.drain()
    },
    cancel() {
      if (!isOver) exchange.cancel(brokenAnswer('The answer was no longer wanted.'))
    },
  }
}

function framesOf(reader: SseReader, chunks: readonly Buffer[] | undefined, cancel: Exchange['cancel']): SseFrame[] {
  try {
    if (chunks === undefined) return reader.end()
    const first = chunks[0]
    return reader.push(chunks.length === 1 && first ? first : Buffer.concat(chunks))
  } catch (error) {
    const fault = brokenAnswer('The model’s upstream sent a frame that is too long.', error)
    cancel(fault)
    throw fault
  }
}
