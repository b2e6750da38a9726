import type { Fault } from '../../../base/fault.ts'
import type { InferenceEnd, InferenceEvent, RawFrame } from '../../../domain/inference/events.ts'
import { createEventOrder } from '../../../domain/inference/event-order.ts'
import type { Dialect } from '../../../domain/inference/request.ts'
import { framesIn, type StreamWriter } from './stream-writer.ts'

/** Any step of an answer but its last. */
export type WriteStep = Exclude<InferenceEvent, InferenceEnd>

/** How a dialect spells the steps of an answer. It is asked for legal ones only, in their order. */
export type DialectWriter = {
  readonly dialect: Dialect
  /** The frames of a step in our own words. */
  spell(step: WriteStep): string
  /** A frame of an upstream that speaks the dialect, as its caller may have it. */
  pass(frame: RawFrame): string
  /** A step that the upstream's own frame has told: what is needed to go on in our words, should a check cut it short. */
  note(step: WriteStep): void
  /** Told once all frames and steps of a piece have come by. */
  afterPiece?(): void
  /** The last frames; `isForwarded` where the upstream has ended the answer itself. */
  end(end: InferenceEnd, isForwarded: boolean): string
  fail(fault: Fault): string
}

/**
 * Writes an answer in any dialect. What cannot be legal in one is the same in all: the order of steps, anything after the end,
 * and the upstream's words again after ours.
 */
export function createAnswerWriter(spelling: DialectWriter): StreamWriter {
  const grammar = createEventOrder()
  let isInOurWords = false
  let hasFailed = false
  const hasEnded = (): boolean => hasFailed || grammar.hasEnded()

  function accept(event: InferenceEvent): void {
    if (hasFailed) throw new Error(`Illegal event order: ${event.type} after a failure.`)
    grammar.accept(event)
  }

  function write(events: readonly InferenceEvent[]): string {
    let text = ''
    for (const event of events) {
      accept(event)
      text += event.type === 'end' ? spelling.end(event, false) : spelling.spell(event)
    }
    isInOurWords ||= events.length > 0
    return text
  }

  function pass(frames: readonly RawFrame[], events: readonly InferenceEvent[]): string {
    let text = ''
    let end: InferenceEnd | undefined
    for (const frame of frames) text += spelling.pass(frame)
    for (const event of events) {
      accept(event)
      if (event.type === 'end') end = event
      else spelling.note(event)
    }
    spelling.afterPiece?.()
    return end === undefined ? text : text + spelling.end(end, true)
  }

  return {
    write,
    forward(piece) {
      if (hasEnded() && piece.events.length === 0) return '' // what an upstream sends after its end
      const frames = isInOurWords ? undefined : framesIn(spelling.dialect, piece)
      return frames === undefined ? write(piece.events) : pass(frames, piece.events)
    },
    fail(fault) {
      if (hasEnded()) return ''
      hasFailed = true
      return spelling.fail(fault)
    },
    hasEnded,
  }
}
