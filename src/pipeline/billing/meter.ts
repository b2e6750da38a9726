import { isFault } from '../../base/fault.ts'
import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { IterableStream, pending, pullStreamOf, type PullStream } from '../../base/pull-stream.ts'
import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { plausibleUsage, type UsageBounds } from '../../domain/inference/plausible-usage.ts'
import { hasCallerLeft, type Lease } from './lease.ts'

type InferenceStart = Extract<InferenceEvent, { type: 'start' }>

export type MeterParts = {
  readonly lease: Lease
  /** The estimated usage, until the upstream reports its own. */
  readonly expected: Usage
  /** The most that the request can have used. */
  readonly bounds: UsageBounds
  readonly signal: AbortSignal
  readonly onEnd: (usage: Usage) => void
  /** Called once if the upstream reports an implausible usage. */
  readonly onImplausible: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly chunks: AsyncIterable<Chunk>
  /** The usage so far. */
  used(): Usage
}

/**
 * Meters the usage of an answer that has started. An answer that does not reach its end is settled by what was generated so
 * far. The `end` event itself is paid for by `withAudit`.
 */
export const meter = (source: AsyncIterable<Chunk>, parts: MeterParts): Metered => new Meter(source, parts)

/** A class, because an object with its own closures would cost every request most of a kilobyte. */
class Meter extends IterableStream<Chunk> implements Metered {
  readonly source: PullStream<Chunk>
  readonly parts: MeterParts
  atStart: Usage
  isImplausible = false
  outputBytes = 0
  reported: Usage | undefined = undefined

  constructor(source: AsyncIterable<Chunk>, parts: MeterParts) {
    super()
    this.source = pullStreamOf(source)
    this.parts = parts
    this.atStart = parts.expected
  }

  get chunks(): AsyncIterable<Chunk> {
    return this
  }

  override poll(): MaybePromise<Polled> {
    let polled
    try {
      polled = this.source.poll()
    } catch (error) {
      return this.breakOff(error)
    }
    if (isPromise(polled))
      return polled.then(
        (chunk) => this.measure(chunk),
        (error: unknown) => this.breakOff(error),
      )
    return this.measure(polled)
  }

  override onReadable(wake: () => void): void {
    this.source.onReadable(wake)
  }

  used(): Usage {
    if (this.reported !== undefined) return this.reported
    const outputTokens = Math.max(this.atStart.outputTokens, estimateTokensOfBytes(this.outputBytes))
    return { ...this.atStart, outputTokens, source: 'estimated' }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.giveUp(hasCallerLeft(this.parts.signal))
  }

  /** Has no effect if the answer is already paid for. */
  giveUp(isByCaller: boolean): Promise<void> {
    return this.parts.lease.giveUp(isByCaller ? 'aborted' : 'broken_off', this.used())
  }

  async breakOff(error: unknown): Promise<never> {
    await this.giveUp(hasCallerLeft(this.parts.signal) || isUnread(error))
    throw error
  }

  /** Changes only the `start` event, and an `end` event with an implausible usage. */
  measure(chunk: Polled): Polled {
    if (chunk === pending || chunk === undefined) return chunk
    let { events } = chunk
    for (const event of events) if (event.type === 'delta') this.outputBytes += Buffer.byteLength(event.text)
    const first = events[0]
    const last = events[events.length - 1]
    if (first?.type === 'start') events = [this.started(first), ...events.slice(1)]
    const end = last?.type === 'end' ? this.ended(last) : last
    if (end !== undefined && end !== last) events = [...events.slice(0, -1), end]
    return events === chunk.events ? chunk : { ...chunk, events }
  }

  started(event: InferenceStart): InferenceStart {
    this.atStart = event.usage === undefined ? this.parts.expected : this.plausible(event.usage)
    return { ...event, usage: this.atStart }
  }

  ended(event: InferenceEnd): InferenceEnd {
    const usage = this.plausible(event.usage)
    this.reported = usage
    this.parts.onEnd(usage)
    return usage === event.usage ? event : { ...event, usage }
  }

  plausible(upstreamUsage: Usage): Usage {
    const { outputBytes } = this
    const { expected, bounds, onImplausible } = this.parts
    const outputTokens = estimateTokensOfBytes(outputBytes)
    const usage = plausibleUsage(upstreamUsage, bounds, {
      inputTokens: expected.inputTokens,
      outputTokens,
      outputBytes,
    })
    if (usage.reportedTokens !== undefined && !this.isImplausible) {
      this.isImplausible = true
      onImplausible(usage)
    }
    return usage
  }
}

type Polled = Chunk | typeof pending | undefined

/** A caller that does not read its answer pays for it, because it was generated. */
const isUnread = (error: unknown): boolean => isFault(error) && error.code === 'response_not_read'
