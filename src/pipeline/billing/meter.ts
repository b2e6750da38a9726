import { isFault } from '../../base/fault.ts'
import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { IterableStream, pending, pullStreamOf, type PullStream } from '../../base/pull-stream.ts'
import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { plausibleUsage, type UsageBounds } from '../../domain/inference/plausible-usage.ts'
import { hasCallerLeft, type Lease } from './lease.ts'
import { OutputCounter, type Delta } from './output-counter.ts'

type InferenceStart = Extract<InferenceEvent, { type: 'start' }>

export type MeterParts = {
  readonly lease: Lease
  /** The estimated usage, until the upstream reports its own. */
  readonly expected: Usage
  /** The most that the request can have used. */
  readonly bounds: UsageBounds
  readonly signal: AbortSignal
  /** Ends the upstream call of an answer that is longer than its request can have. */
  readonly stopUpstream: () => Promise<void>
  readonly onEnd: (usage: Usage) => void
  /** Called once if the upstream reports an implausible usage. */
  readonly onImplausible: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly chunks: AsyncIterable<Chunk>
  /** The usage so far. */
  used(): Usage
  /** Called with each chunk that is sent to the caller: one that does not read pays for no more than these. */
  delivered(chunk: Chunk): void
}

/**
 * Meters the usage of an answer that has started. An answer that does not reach its end is settled by what was generated so
 * far. The `end` event itself is paid for by `withAudit`. An answer that passes the bound of its output ends there, with the
 * stop reason `length`.
 */
export const meter = (source: AsyncIterable<Chunk>, parts: MeterParts): Metered => new Meter(source, parts)

/** A class, because an object with its own closures would cost every request most of a kilobyte. */
class Meter extends IterableStream<Chunk> implements Metered {
  readonly source: PullStream<Chunk>
  readonly parts: MeterParts
  atStart: Usage
  isImplausible = false
  readonly output: OutputCounter
  isCut = false
  deliveredBytes = 0
  reported: Usage | undefined = undefined

  constructor(source: AsyncIterable<Chunk>, parts: MeterParts) {
    super()
    this.source = pullStreamOf(source)
    this.parts = parts
    this.atStart = parts.expected
    this.output = new OutputCounter(parts.bounds)
  }

  get chunks(): AsyncIterable<Chunk> {
    return this
  }

  override poll(): MaybePromise<Polled> {
    if (this.isCut) return undefined
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
    return this.reported ?? this.usageOf(this.output.bytes)
  }

  usageOf(outputBytes: number): Usage {
    const outputTokens = Math.max(this.atStart.outputTokens, estimateTokensOfBytes(outputBytes))
    const { heldOutputTokens } = this.parts.bounds
    return { ...this.atStart, outputTokens: Math.min(outputTokens, heldOutputTokens), source: 'estimated' }
  }

  delivered({ events }: Chunk): void {
    for (const event of events) if (event.type === 'delta') this.deliveredBytes += Buffer.byteLength(event.text)
  }

  /** Has no effect if the answer is already paid for. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.parts.lease.giveUp(hasCallerLeft(this.parts.signal) ? 'aborted' : 'broken_off', this.used())
  }

  async breakOff(error: unknown): Promise<never> {
    const { lease, signal } = this.parts
    if (isUnread(error)) await lease.giveUp('aborted', this.reported ?? this.usageOf(this.deliveredBytes))
    else await lease.giveUp(hasCallerLeft(signal) ? 'aborted' : 'broken_off', this.used())
    throw error
  }

  /** Changes only the `start` event, an `end` event with an implausible usage, and an answer that is too long. */
  measure(chunk: Polled): MaybePromise<Polled> {
    if (chunk === pending || chunk === undefined) return chunk
    let { events } = chunk
    const first = events[0]
    if (first?.type === 'start') events = [this.started(first), ...events.slice(1)]
    const tooLong = this.output.firstBeyond(events)
    if (tooLong !== undefined) return this.cut(events, tooLong)
    const last = events[events.length - 1]
    const end = last?.type === 'end' ? this.ended(last) : last
    if (end !== undefined && end !== last) events = [...events.slice(0, -1), end]
    return events === chunk.events ? chunk : { ...chunk, events }
  }

  /** The chunk loses its raw frames, because they contain the text after the cut. */
  async cut(events: readonly InferenceEvent[], tooLong: Delta): Promise<Chunk> {
    this.isCut = true
    const before = events.slice(0, events.indexOf(tooLong))
    const ending = [...this.output.endAt(tooLong), this.lengthEnd(events)]
    await this.parts.stopUpstream()
    return { events: [...before, ...ending] }
  }

  /** By the usage that the upstream reports, if its answer ended in the same chunk. */
  lengthEnd(events: readonly InferenceEvent[]): InferenceEnd {
    const last = events[events.length - 1]
    const usage = last?.type === 'end' ? last.usage : this.used()
    return this.ended({ type: 'end', stopReason: 'length', usage })
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
    const { expected, bounds, onImplausible } = this.parts
    const outputTokens = estimateTokensOfBytes(this.output.bytes)
    const usage = plausibleUsage(upstreamUsage, bounds, { inputTokens: expected.inputTokens, outputTokens })
    if (usage.reportedTokens !== undefined && !this.isImplausible) {
      this.isImplausible = true
      onImplausible(usage)
    }
    return usage
  }
}

type Polled = Chunk | typeof pending | undefined

/** A caller that does not read its answer pays for what was sent to it. */
const isUnread = (error: unknown): boolean => isFault(error) && error.code === 'response_not_read'
