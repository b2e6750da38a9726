import type { Fault } from '../../../base/fault.ts'
import type { InferenceEnd, InferenceEvent, RawFrame } from '../../../domain/inference/events.ts'
import { createEventOrder } from '../../../domain/inference/event-order.ts'
import type { Dialect } from '../../../domain/inference/request.ts'
import { createBlockSequencer } from './block-sequencer.ts'
import { framesIn, type StreamWriter, type WriteStep } from './stream-writer.ts'

/** How a dialect formats the events of an answer. It is called for legal events only, in order. */
export type DialectWriter = {
  readonly dialect: Dialect
  /** True if the deltas of several blocks may alternate on the wire. */
  readonly allowsInterleaving?: boolean
  /** True if the upstream's raw frames have another form than this caller expects. */
  readonly ignoresRaw?: boolean
  /** The frames of an event in the gateway's own encoding. */
  format(step: WriteStep): string
  /** Adapts a raw frame of an upstream of the same dialect for the caller. */
  pass(frame: RawFrame): string
  /** Tracks an event that a raw frame already contained, so that `format` can continue if a check stops the stream. */
  track(step: WriteStep): void
  /** Called after all frames and events of a chunk. */
  afterChunk?(): void
  /** The last frames. `isPassthrough` if the upstream's own frames ended the answer. */
  end(end: InferenceEnd, isPassthrough: boolean): string
  fail(fault: Fault): string
}

/**
 * Writes an answer in any dialect. Enforces what is the same in all of them: the order of events, one block at a time,
 * nothing after the end, and no raw frames after formatted ones.
 */
export function createAnswerWriter(dialectWriter: DialectWriter): StreamWriter {
  const grammar = createEventOrder()
  const sequencer = dialectWriter.allowsInterleaving === true ? undefined : createBlockSequencer()
  let isFormatted = false
  let hasFailed = false
  const hasEnded = (): boolean => hasFailed || grammar.hasEnded()

  function accept(event: InferenceEvent): void {
    if (hasFailed) throw new Error(`Illegal event order: ${event.type} after a failure.`)
    grammar.accept(event)
  }

  function format(step: WriteStep): string {
    if (sequencer?.hold(step) === true) return ''
    let text = dialectWriter.format(step)
    if (step.type === 'close') for (const held of sequencer?.release() ?? []) text += dialectWriter.format(held)
    return text
  }

  function write(events: readonly InferenceEvent[]): string {
    let text = ''
    for (const event of events) {
      accept(event)
      text += event.type === 'end' ? dialectWriter.end(event, false) : format(event)
    }
    isFormatted ||= events.length > 0
    return text
  }

  function pass(frames: readonly RawFrame[], events: readonly InferenceEvent[]): string {
    let text = ''
    let end: InferenceEnd | undefined
    for (const frame of frames) text += dialectWriter.pass(frame)
    for (const event of events) {
      accept(event)
      if (event.type === 'end') {
        end = event
        continue
      }
      sequencer?.track(event)
      dialectWriter.track(event)
    }
    dialectWriter.afterChunk?.()
    return end === undefined ? text : text + dialectWriter.end(end, true)
  }

  return {
    write,
    forward(chunk) {
      if (hasEnded() && chunk.events.length === 0) return '' // an upstream may send frames after its end
      const frames =
        isFormatted || dialectWriter.ignoresRaw === true ? undefined : framesIn(dialectWriter.dialect, chunk)
      return frames === undefined ? write(chunk.events) : pass(frames, chunk.events)
    },
    fail(fault) {
      if (hasEnded()) return ''
      hasFailed = true
      return dialectWriter.fail(fault)
    },
    hasEnded,
  }
}
