import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { iterable, pending } from '../../base/pull-stream.ts'
import { isCleared, type Mark } from '../../domain/evaluation/stream/stream-scanner.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { InferenceEnd, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import { outOfBandTextsOf } from './out-of-band.ts'
import { createHoldBackBuffer } from './hold-back-buffer.ts'
import { createStreamInspection, type ResponseCoverage, type StreamInspectionParts } from './stream-inspection.ts'
import type { Metered } from '../billing/meter.ts'
import { createIdleAwareStream, idle, type IdleTimers } from './idle-timer.ts'

export type OutputGuardParts = StreamInspectionParts & {
  readonly idleTimers: IdleTimers
  readonly stopUpstream: () => Promise<void>
  /** Called once with the decisions on the response. Returns the `policy` object for the caller. */
  readonly conclude: (
    decisions: readonly Decision[],
    end: InferenceEnd,
    coverage: ResponseCoverage,
  ) => InferenceEnd['policy']
}

type Polled = Chunk | typeof pending | undefined

/** A held chunk with its number and the positions that must be cleared before it may be sent. */
type HeldChunk = { chunk: Chunk; readonly number: number; readonly marks: readonly (Mark | undefined)[] }

/**
 * Sends a response only as far as it is scanned and allowed. A denied text is never sent: the upstream is stopped, held
 * chunks are dropped, and the response ends with the stop reason `filtered`. Dispose of a response that is not read to its end.
 */
export function guardOutput(
  metered: Pick<Metered, 'chunks' | 'used'>,
  parts: OutputGuardParts,
): AsyncIterable<Chunk> & Disposable {
  const upstream = createIdleAwareStream(metered.chunks, parts.idleTimers)
  const held = createHoldBackBuffer(mayBeSent)
  const inspection = createStreamInspection(parts, (block, text) => held.replaceText(block, text))
  let chunks = 0
  /** Number of the last chunk whose raw frames were covered by events, and so were scanned. */
  let coveredTo = 0
  let isOver = false
  const chunksToSend = iterable({ poll, onReadable: (wake) => upstream.onReadable(wake, !held.isEmpty()) })
  return Object.assign(chunksToSend, { [Symbol.dispose]: () => inspection[Symbol.dispose]() })

  function poll(): MaybePromise<Polled> {
    return isOver ? undefined : andThen(upstream.poll(), onPolled)
  }

  function onPolled(polled: Polled | typeof idle): MaybePromise<Polled> {
    if (polled === pending || polled === undefined) return polled
    return polled === idle ? andThen(inspection.scanEnds(), release) : andThen(scan(polled), onScanned)
  }

  function onScanned(isAllowed: boolean): MaybePromise<Polled> {
    return isAllowed ? release() : filtered()
  }

  function release(): MaybePromise<Polled> {
    const released = held.release()
    return released === undefined ? poll() : concluded(released)
  }

  async function filtered(): Promise<Chunk> {
    isOver = true
    inspection[Symbol.dispose]()
    await parts.stopUpstream()
    const end: InferenceEnd = { type: 'end', stopReason: 'filtered', usage: metered.used() }
    return concluded({ events: [...held.abandon(), end] })
  }

  /** Holds a chunk back and scans what it adds. Returns whether the response may continue. */
  function scan(chunk: Chunk): MaybePromise<boolean> {
    const number = ++chunks
    if (chunk.hasPendingBlock !== true) coveredTo = number
    const events = joinDeltas(chunk.events)
    const outOfBandTexts = outOfBandTextsOf(chunk)
    const marks = inspection.marksOf(events)
    if (outOfBandTexts.length === 0) {
      held.hold({ chunk, number, marks })
      return inspection.scan(events)
    }
    held.hold({ chunk, number, marks: [...marks, ...inspection.outOfBand.marksOf(outOfBandTexts)] })
    return andThen(inspection.outOfBand.scan(outOfBandTexts), (isAllowed) => isAllowed && inspection.scan(events))
  }

  function mayBeSent({ number, marks }: HeldChunk): boolean {
    return number <= coveredTo && marks.every(isCleared)
  }

  function concluded(chunk: Chunk): Chunk {
    const last = chunk.events.at(-1)
    if (last?.type !== 'end') return chunk
    const policy = parts.conclude(inspection.decisions, last, inspection.coverage())
    return policy === undefined ? chunk : { ...chunk, events: [...chunk.events.slice(0, -1), { ...last, policy }] }
  }
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
