import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { iterable, pending } from '../../base/pull-stream.ts'
import { isCleared, type Mark } from '../../domain/evaluation/stream/stream-scanner.ts'
import type { CheckOutcome } from '../../domain/evaluation/verdict/outcome.ts'
import type { InferenceEnd, InferenceEvent, Chunk } from '../../domain/inference/events.ts'
import { outOfBandTextsOf } from './out-of-band.ts'
import { createHoldBackBuffer } from './hold-back-buffer.ts'
import { createStreamInspection, type StreamInspectionParts } from './stream-inspection.ts'
import type { Metered } from '../billing/meter.ts'
import { createIdleAwareStream, idle, type IdleTimers } from './idle-timer.ts'

export type OutputGuardParts = StreamInspectionParts & {
  readonly clock: Clock
  readonly silences: IdleTimers
  /** Stops the upstream. */
  readonly stop: () => Promise<void>
  /** Told once what the checks said about the answer; what it answers is shown to the caller. */
  readonly conclude: (outcomes: readonly CheckOutcome[], end: InferenceEnd) => InferenceEnd['policy']
}

/** Readers see no gaps shorter than this. */
const lookEveryMs = 150
/** What is held back all the same while more is coming: a text often turns within a few words. */
const keptBackCharacters = 32

type Taken = Chunk | typeof pending | undefined

/** A piece, and what must have happened before it may leave. */
type Ticketed = { piece: Chunk; readonly place: number; readonly marks: readonly (Mark | undefined)[] }

/**
 * Lets an answer out no faster than it was found fit to leave. What is denied never leaves: the upstream is stopped, what
 * was held is dropped, and the answer ends as one that was filtered.
 */
export function guardOutput(metered: Pick<Metered, 'pieces' | 'used'>, parts: OutputGuardParts): AsyncIterable<Chunk> {
  const { clock } = parts
  const listener = createIdleAwareStream(metered.pieces, parts.silences)
  const held = createHoldBackBuffer(isFree)
  const inspection = createStreamInspection(parts, (block, text) => held.replaceText(block, text))
  let pieces = 0
  /** Up to this one, all that stands in the pieces was told in events, and looked at. */
  let told = 0
  let lookedMs = clock.monotonicMs()
  let isOver = false
  return iterable({ poll: take, onReadable: (wake) => listener.whenMore(wake, !held.isEmpty()) })

  function take(): MaybePromise<Taken> {
    return isOver ? undefined : andThen(listener.take(), hear)
  }

  function hear(heard: Taken | typeof idle): MaybePromise<Taken> {
    if (heard === pending || heard === undefined) return heard
    if (heard === idle) return andThen(lookAhead(0), () => letOut('all'))
    return andThen(isPieceFit(heard), goOn)
  }

  function goOn(isFit: boolean): MaybePromise<Taken> {
    if (!isFit) return filtered()
    // A slow upstream is not made slower: what is fit to leave does not wait for the next check.
    const isLookDue = clock.monotonicMs() - lookedMs >= lookEveryMs
    return isLookDue ? andThen(lookAhead(keptBackCharacters), () => letOut('steady')) : letOut('steady')
  }

  function letOut(pace: 'all' | 'steady'): MaybePromise<Taken> {
    const leaving = held.release(pace)
    return leaving === undefined ? take() : concluded(leaving)
  }

  async function filtered(): Promise<Chunk> {
    isOver = true
    await parts.stop()
    const end: InferenceEnd = { type: 'end', stopReason: 'filtered', usage: metered.used() }
    return concluded({ events: [...held.abandon(), end] })
  }

  function lookAhead(keptBack: number): MaybePromise<void> {
    lookedMs = clock.monotonicMs()
    return inspection.lookAhead(keptBack)
  }

  /** Takes a piece in, looks at all that it adds, and says whether the answer may go on. */
  function isPieceFit(piece: Chunk): MaybePromise<boolean> {
    const place = ++pieces
    if (piece.hasPendingBlock !== true) told = place
    const events = joined(piece.events)
    const asides = outOfBandTextsOf(piece)
    const marks = inspection.marksOf(events)
    if (asides.length === 0) {
      held.hold({ piece, place, marks })
      return inspection.areFit(events)
    }
    held.hold({ piece, place, marks: [...marks, ...inspection.asides.marksOf(asides)] })
    return andThen(inspection.asides.areFit(asides), (areFit) => areFit && inspection.areFit(events))
  }

  function isFree({ place, marks }: Ticketed): boolean {
    return place <= told && marks.every(isCleared)
  }

  function concluded(piece: Chunk): Chunk {
    const last = piece.events.at(-1)
    if (last?.type !== 'end') return piece
    const policy = parts.conclude(inspection.outcomes, last)
    return policy === undefined ? piece : { ...piece, events: [...piece.events.slice(0, -1), { ...last, policy }] }
  }
}

/** Deltas of a block that stand side by side as one: what arrived together is looked at together. */
function joined(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  if (events.length < 2) return events
  const all: InferenceEvent[] = []
  for (const event of events) {
    const last = all.at(-1)
    const goesOn = event.type === 'delta' && last?.type === 'delta' && last.block === event.block
    if (goesOn) all[all.length - 1] = { ...last, text: last.text + event.text }
    else all.push(event)
  }
  return all
}
