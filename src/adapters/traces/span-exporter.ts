import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import { Unreachable, type ReceivedResponse, type SendRequest } from '../network/request.ts'
import { toKeyValues } from '../otlp-values.ts'
import { compressed } from '../sinks/compression.ts'
import { schemaUrl } from './gen-ai.ts'
import { encodeSpan, type TraceSpan, type SpanAttributes } from './span.ts'

/** What became of a span. `queue_full`: the collector takes spans more slowly than they are made. */
export const spanResults = ['sent', 'queue_full', 'rejected', 'lost_at_shutdown'] as const
export type SpanResult = (typeof spanResults)[number]

export type SpanExporterSettings = {
  readonly url: URL
  /** Called for each export, because a header may hold a secret that is rotated. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly compression: 'gzip' | 'none'
  readonly timeoutMs: number
  /** Describes this process. */
  readonly resource: SpanAttributes
  readonly version: string
}

export type SpanExporterParts = {
  readonly request: SendRequest
  readonly clock: Clock
  readonly onResult: (result: SpanResult, count: number) => void
}

/** Sends spans to an OpenTelemetry collector. Nothing that a request does waits for it. */
export type SpanExporter = AsyncDisposable & {
  /** Queues the spans of one trace. They are dropped and counted if the queue is full. */
  add(spans: readonly TraceSpan[]): void
  /** Sends what is queued. Rejects if the collector does not take it; spans that it may take later stay in the queue. */
  flush(): Promise<void>
}

type QueuedTrace = { readonly text: string; readonly spans: number }

const maxQueuedSpans = 8_192
const maxQueuedCharacters = 16 * 1024 * 1024
const maxBatchSpans = 512
const maxBatchCharacters = 2 * 1024 * 1024
const shutdownMs = 5_000
/** After this many failures in a row the batch at the head of the queue is halved. */
const maxBatchFailures = 5

export function createSpanExporter(
  settings: SpanExporterSettings,
  { request, clock, onResult }: SpanExporterParts,
): SpanExporter {
  const { url, headers, compression, timeoutMs } = settings
  const [before, after] = envelope(settings)
  const queue: QueuedTrace[] = []
  let queuedSpans = 0
  let queuedCharacters = 0
  let sending: Promise<void> | undefined
  /** After a failure only the job tries again, once in its interval. */
  let hasFailed = false
  /** How often in a row the batch at the head of the queue failed. */
  let failures = 0
  let maxBatchTraces = Infinity
  /** How many traces at the head of the queue were in the batch that was halved. */
  let suspects = 0

  const shutdown = new AbortController()
  const flush = (): Promise<void> => (sending ??= sendAll().finally(() => void (sending = undefined)))

  return {
    add(spans) {
      const text = spans.map(encodeSpan).join(',')
      if (queuedSpans + spans.length > maxQueuedSpans || queuedCharacters + text.length > maxQueuedCharacters)
        return onResult('queue_full', spans.length)
      queue.push({ text, spans: spans.length })
      queuedSpans += spans.length
      queuedCharacters += text.length
      if (queuedSpans >= maxBatchSpans && !hasFailed) void flush().catch(() => undefined)
    },
    flush,
    async [Symbol.asyncDispose]() {
      const cancel = clock.after(shutdownMs, () => shutdown.abort())
      // A call that has begun does not send what was added since.
      await sending?.catch(() => undefined)
      await flush().catch(() => undefined)
      cancel()
      if (queuedSpans > 0) onResult('lost_at_shutdown', queuedSpans)
    },
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = nextBatch()
      try {
        await send(batch)
        hasFailed = false
      } catch (error) {
        hasFailed = true
        if (error instanceof Rejected) count('rejected', batch)
        else if (!(error instanceof NotConnected)) onFailed(batch)
        throw error
      }
    }
  }

  /** One trace that the collector cannot process must not keep all others in the queue. */
  function onFailed(batch: readonly QueuedTrace[]): void {
    if (shutdown.signal.aborted || ++failures < maxBatchFailures) return
    if (batch.length === 1) return count('rejected', batch)
    failures = 0
    suspects = batch.length
    maxBatchTraces = Math.ceil(batch.length / 2)
  }

  function nextBatch(): readonly QueuedTrace[] {
    let spans = 0
    let characters = 0
    const end = queue.findIndex((trace, at) => {
      spans += trace.spans
      characters += trace.text.length
      return at >= maxBatchTraces || spans > maxBatchSpans || characters > maxBatchCharacters
    })
    return end === -1 ? queue.slice() : queue.slice(0, Math.max(1, end))
  }

  async function send(batch: readonly QueuedTrace[]): Promise<void> {
    const text = before + batch.map((trace) => trace.text).join(',') + after
    const { body, headers: described } = await compressed(text, 'application/json', compression)
    using deadline = deadlineAfter(timeoutMs)
    const signal = AbortSignal.any([deadline.signal, shutdown.signal])
    const outgoing = { method: 'POST', url, headers: { ...described, ...headers() }, body, signal } as const
    const response = await request(outgoing).catch((error: unknown) => rethrow(error, url))
    const rejected = Math.min(rejectedSpans(response), spansOf(batch))
    if (rejected > 0) onResult('rejected', rejected)
    count('sent', batch, rejected)
  }

  /** Removes a batch from the queue. */
  function count(result: SpanResult, batch: readonly QueuedTrace[], countedAlready = 0): void {
    queue.splice(0, batch.length)
    failures = 0
    suspects -= batch.length
    if (suspects <= 0) maxBatchTraces = Infinity
    const spans = spansOf(batch)
    queuedSpans -= spans
    queuedCharacters -= batch.reduce((sum, { text }) => sum + text.length, 0)
    if (spans > countedAlready) onResult(result, spans - countedAlready)
  }

  function deadlineAfter(ms: number): Disposable & { readonly signal: AbortSignal } {
    const controller = new AbortController()
    const cancel = clock.after(ms, () => controller.abort(new Error(`The collector did not answer within ${ms} ms.`)))
    return { signal: controller.signal, [Symbol.dispose]: cancel }
  }
}

const spansOf = (batch: readonly QueuedTrace[]): number => batch.reduce((sum, { spans }) => sum + spans, 0)

/** `Unreachable` hides its cause from tenants. Collectors are configured by the operator, who needs it. */
function rethrow(error: unknown, { host }: URL): never {
  if (!(error instanceof Unreachable)) throw error
  const message = `The collector at ${host} could not be reached: ${messageOf(error.cause)}`
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  throw connectErrors.has(code) ? new NotConnected(message, { cause: error }) : new Error(message, { cause: error })
}

/** There was no connection, so the failure has nothing to do with the spans. */
class NotConnected extends Error {}

const connectErrors: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The collector answered that it will not take the spans, now or later. */
class Rejected extends Error {}

/** OTLP names these as the statuses after which a client may try again. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** How many spans of an accepted request the collector rejected. Throws if it did not accept the request. */
function rejectedSpans({ status, body }: ReceivedResponse): number {
  if (status >= 200 && status < 300) return rejectedIn(body.toString())
  const message = `The collector answered with status ${status}.`
  throw retryableStatuses.has(status) ? new Error(message) : new Rejected(message)
}

function rejectedIn(text: string): number {
  try {
    const answer: unknown = JSON.parse(text)
    const partial = isRecord(answer) ? answer['partialSuccess'] : undefined
    const rejected = isRecord(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0
    return Number.isSafeInteger(rejected) ? Math.max(0, rejected) : 0
  } catch {
    return 0
  }
}

/** The request of an export, in front of and after its spans. */
function envelope({ resource, version }: SpanExporterSettings): [before: string, after: string] {
  const described = JSON.stringify({ attributes: toKeyValues(resource) })
  const scope = JSON.stringify({ name: 'gatehouse', version })
  const schema = JSON.stringify(schemaUrl)
  return [
    `{"resourceSpans":[{"resource":${described},"scopeSpans":[{"scope":${scope},"spans":[`,
    `],"schemaUrl":${schema}}]}]}`,
  ]
}
