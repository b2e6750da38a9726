import type { Fault } from '../../../base/fault.ts'
import type { Chunk, InferenceEnd, InferenceEvent, RawFrame } from '../../../domain/inference/events.ts'
import { createEventOrder, type EventOrder } from '../../../domain/inference/event-order.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import { createBlockSequencer, type BlockSequencer } from './block-sequencer.ts'
import { framesIn, type StreamWriter, type WriteStep } from './stream-writer.ts'

/** How a dialect formats the events of an answer. It is called for legal events only, in order. */
export type DialectWriter = {
  readonly dialect: CallerFormat
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
export const createAnswerWriter = (dialectWriter: DialectWriter): StreamWriter => new AnswerWriter(dialectWriter)

/** A class, because an object with its own closures would cost every response more memory. */
class AnswerWriter implements StreamWriter {
  readonly dialectWriter: DialectWriter
  readonly grammar: EventOrder = createEventOrder()
  readonly sequencer: BlockSequencer | undefined
  isFormatted = false
  hasFailed = false

  constructor(dialectWriter: DialectWriter) {
    this.dialectWriter = dialectWriter
    this.sequencer = dialectWriter.allowsInterleaving === true ? undefined : createBlockSequencer()
  }

  hasEnded(): boolean {
    return this.hasFailed || this.grammar.hasEnded()
  }

  write(events: readonly InferenceEvent[]): string {
    let text = ''
    for (const event of events) {
      this.accept(event)
      text += event.type === 'end' ? this.dialectWriter.end(event, false) : this.format(event)
    }
    this.isFormatted ||= events.length > 0
    return text
  }

  forward(chunk: Chunk): string {
    const { dialectWriter } = this
    if (this.hasEnded() && chunk.events.length === 0) return '' // an upstream may send frames after its end
    const ignoresRaw = this.isFormatted || dialectWriter.ignoresRaw === true
    const frames = ignoresRaw ? undefined : framesIn(dialectWriter.dialect, chunk)
    return frames === undefined ? this.write(chunk.events) : this.pass(frames, chunk.events)
  }

  fail(fault: Fault): string {
    if (this.hasEnded()) return ''
    this.hasFailed = true
    return this.dialectWriter.fail(fault)
  }

  accept(event: InferenceEvent): void {
    if (this.hasFailed) throw new Error(`Illegal event order: ${event.type} after a failure.`)
    this.grammar.accept(event)
  }

  format(step: WriteStep): string {
    const { sequencer, dialectWriter } = this
    if (sequencer?.hold(step) === true) return ''
    let text = dialectWriter.format(step)
    if (step.type === 'close') for (const held of sequencer?.release() ?? []) text += dialectWriter.format(held)
    return text
  }

  pass(frames: readonly RawFrame[], events: readonly InferenceEvent[]): string {
    const { sequencer, dialectWriter } = this
    let text = ''
    let end: InferenceEnd | undefined
    for (const frame of frames) text += dialectWriter.pass(frame)
    for (const event of events) {
      this.accept(event)
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
}
