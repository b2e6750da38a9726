import { andThen, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import { IterableStream, pending, pullStreamOf, type PullStream } from '../../base/pull-stream.ts'
import type { ResponseCoverage } from '../../domain/evaluation/stream/hold-back-policy.ts'
import { isCleared, type Mark } from '../../domain/evaluation/stream/stream-scanner.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { RequestTiming } from '../../domain/audit/event/request-timing.ts'
import type { InferenceEnd, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import { outOfBandTextsOf } from './out-of-band.ts'
import { createHoldBackBuffer, type HoldBackBuffer } from './hold-back-buffer.ts'
import { createBlockScanners, type BlockScanners, type BlockScannersParts } from './block-scanners.ts'
import type { OperationCall } from '../operation-call.ts'
import type { Metered } from '../billing/meter.ts'
import { inspectWhole } from './whole-inspection.ts'
import { createIdleAwareStream, idle, type IdleAwareStream, type IdleTimers } from './idle-timer.ts'

export type OutputGuardParts = BlockScannersParts & {
  readonly idleTimers: IdleTimers
  /** Undefined if nobody records the request. */
  readonly timing?: RequestTiming | undefined
  readonly stopUpstream: () => Promise<void>
  /** Called with the chunks that are not sent because a check denied them. */
  readonly onWithheld?: OperationCall['onWithheld'] | undefined
  /** Called once with the decisions on the response. Returns the `policy` object for the caller. */
  readonly conclude: (
    decisions: readonly Decision[],
    end: InferenceEnd,
    coverage: ResponseCoverage,
  ) => InferenceEnd['policy']
}

type Polled = Chunk | typeof pending | undefined

/** A held chunk with its number and the positions that must be cleared before it may be sent. */
type HeldChunk = {
  chunk: Chunk
  readonly number: number
  readonly marks: readonly (Mark | undefined)[]
  readonly sinceMs: number
}

type MeteredChunks = Pick<Metered, 'chunks' | 'used'>

/**
 * Sends a response only as far as it is scanned and allowed. A denied text is never sent: the upstream is stopped, held
 * chunks are dropped, and the response ends with the stop reason `filtered`. Dispose of a response that is not read to its end.
 */
export const guardOutput = (metered: MeteredChunks, parts: OutputGuardParts): AsyncIterable<Chunk> & Disposable =>
  new GuardedOutput(metered, parts)

/** A response whose first chunk is complete is inspected and sent in one step. Any other is a stream. */
class GuardedOutput extends IterableStream<Chunk> implements Disposable {
  readonly metered: MeteredChunks
  readonly parts: OutputGuardParts
  readonly upstream: PullStream<Chunk>
  stream: GuardedStream | undefined = undefined
  isOver = false

  constructor(metered: MeteredChunks, parts: OutputGuardParts) {
    super()
    this.metered = metered
    this.parts = parts
    this.upstream = pullStreamOf(metered.chunks)
  }

  override poll(): MaybePromise<Polled> {
    if (this.stream !== undefined) return this.stream.poll()
    if (this.isOver) return undefined
    return andThen(this.upstream.poll(), (first) => this.onFirst(first))
  }

  override onReadable(wake: () => void): void {
    const source = this.stream ?? this.upstream
    source.onReadable(wake)
  }

  [Symbol.dispose](): void {
    this.stream?.[Symbol.dispose]()
  }

  onFirst(first: Polled): MaybePromise<Polled> {
    if (first === pending || first === undefined) return first
    if (isComplete(first)) return this.inspect(first)
    this.stream = new GuardedStream(this)
    return this.stream.onPolled(first)
  }

  inspect(response: Chunk): MaybePromise<Chunk> {
    const { parts } = this
    this.isOver = true
    const sinceMs = parts.timing?.clock.monotonicMs() ?? 0
    return andThen(inspectWhole(response, parts), ({ allowed, decisions, coverage }) => {
      parts.timing?.heldSince(sinceMs)
      const conclude = (chunk: Chunk): Chunk => concluded(chunk, (end) => parts.conclude(decisions, end, coverage))
      if (allowed !== undefined) return conclude(allowed)
      parts.onWithheld?.([response])
      const start = response.events.filter(({ type }) => type === 'start')
      return parts.stopUpstream().then(() => conclude({ events: [...start, filteredEnd(this.metered)] }))
    })
  }
}

/** A class, because an object with its own closures would cost every response more memory. */
class GuardedStream extends IterableStream<Chunk> implements Disposable {
  readonly metered: MeteredChunks
  readonly parts: OutputGuardParts
  readonly upstream: IdleAwareStream<Chunk>
  readonly held: HoldBackBuffer<HeldChunk>
  readonly scanners: BlockScanners
  chunks = 0
  /** Number of the last chunk whose raw frames were covered by events, and so were scanned. */
  coveredTo = 0
  isOver = false
  /** The error that ended the response early, while it is still to be thrown. */
  failure: { readonly error: unknown } | undefined = undefined

  constructor({ metered, parts, upstream }: GuardedOutput) {
    super()
    this.metered = metered
    this.parts = parts
    this.upstream = createIdleAwareStream(upstream, parts.idleTimers)
    this.held = createHoldBackBuffer(
      ({ number, marks }) => number <= this.coveredTo && marks.every(isCleared),
      ({ sinceMs }) => parts.timing?.heldSince(sinceMs),
    )
    this.scanners = createBlockScanners(parts, (block, text) => this.held.replaceText(block, text))
  }

  override poll(): MaybePromise<Polled> {
    if (this.failure !== undefined) throw this.failure.error
    if (this.isOver) return undefined
    let polled
    try {
      polled = this.upstream.poll()
    } catch (error) {
      return this.onFailed(error)
    }
    if (!isPromise(polled)) return this.onPolled(polled)
    return polled.then(
      (chunk) => this.onPolled(chunk),
      (error: unknown) => this.onFailed(error),
    )
  }

  override onReadable(wake: () => void): void {
    this.upstream.onReadable(wake, !this.held.isEmpty())
  }

  [Symbol.dispose](): void {
    this.scanners[Symbol.dispose]()
  }

  onPolled(polled: Polled | typeof idle): MaybePromise<Polled> {
    if (polled === pending || polled === undefined) return polled
    if (polled === idle) return andThen(this.scanners.scanEnds(), () => this.release())
    const scanned = this.scan(polled)
    return isPromise(scanned) ? scanned.then((isAllowed) => this.onScanned(isAllowed)) : this.onScanned(scanned)
  }

  /** The text that came before the error is sent first, as far as it is harmless, however soon after it the error came. */
  onFailed(error: unknown): MaybePromise<Polled> {
    if (this.held.isEmpty()) throw error
    this.failure = { error }
    return andThen(this.scanners.scanEnds(), () => {
      const released = this.held.release()
      if (released === undefined) throw error
      return released
    })
  }

  onScanned(isAllowed: boolean): MaybePromise<Polled> {
    return isAllowed ? this.release() : this.filtered()
  }

  release(): MaybePromise<Polled> {
    const released = this.held.release()
    return released === undefined ? this.poll() : this.concluded(released)
  }

  async filtered(): Promise<Chunk> {
    this.isOver = true
    this.scanners[Symbol.dispose]()
    this.parts.onWithheld?.(this.held.chunks())
    await this.parts.stopUpstream()
    return this.concluded({ events: [...this.held.abandon(), filteredEnd(this.metered)] })
  }

  /** Holds a chunk back and scans what it adds. Returns whether the response may continue. */
  scan(chunk: Chunk): MaybePromise<boolean> {
    const { scanners, held } = this
    const number = ++this.chunks
    const sinceMs = this.parts.timing?.clock.monotonicMs() ?? 0
    if (chunk.hasPendingBlock !== true) this.coveredTo = number
    const events = joinDeltas(chunk.events)
    const outOfBandTexts = outOfBandTextsOf(chunk)
    const marks = scanners.marksOf(events)
    if (outOfBandTexts.length === 0) {
      held.hold({ chunk, number, marks, sinceMs })
      return scanners.scan(events)
    }
    const all = [...marks, ...scanners.outOfBand().marksOf(outOfBandTexts)]
    held.hold({ chunk, number, marks: all, sinceMs })
    return andThen(scanners.outOfBand().scan(outOfBandTexts), (isAllowed) => isAllowed && scanners.scan(events))
  }

  concluded(chunk: Chunk): Chunk {
    const { scanners, parts } = this
    return concluded(chunk, (end) => parts.conclude(scanners.decisions, end, scanners.coverage()))
  }
}

/** The whole response in one chunk, whose events carry all of its text. */
const isComplete = (chunk: Chunk): boolean =>
  chunk.events.at(-1)?.type === 'end' && chunk.hasPendingBlock !== true && outOfBandTextsOf(chunk).length === 0

const filteredEnd = (metered: MeteredChunks): InferenceEnd => ({
  type: 'end',
  stopReason: 'filtered',
  usage: metered.used(),
})

/** Adds the `policy` object to the `end` event, if the chunk has one. */
function concluded(chunk: Chunk, conclude: (end: InferenceEnd) => InferenceEnd['policy']): Chunk {
  const last = chunk.events.at(-1)
  if (last?.type !== 'end') return chunk
  const policy = conclude(last)
  return policy === undefined ? chunk : { ...chunk, events: [...chunk.events.slice(0, -1), { ...last, policy }] }
}

/** Joins neighbouring deltas of a block, so that text that arrived together is scanned together. */
function joinDeltas(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  if (events.length < 2) return events
  const all: InferenceEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    const continues = event.type === 'delta' && last?.type === 'delta' && last.block === event.block
    if (continues) all[all.length - 1] = { ...last, text: last.text + event.text }
    else all.push(event)
  }
  return all
}
