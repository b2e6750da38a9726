import type { SseFrame } from '../../../base/sse.ts'
import type { Chunk, OutOfBandText, RawFrame } from '../../../domain/inference/events.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import { upstreamFailed } from '../failures.ts'
import { parseRecord, type JsonRecord } from '../json-values.ts'
import type { ConformanceCheck, Decoder } from '../wire-format.ts'
import type { EventWriter } from './event-writer.ts'
import type { FrameCache } from './frame-cache.ts'
import type { AnswerShape, OutOfBandReader } from './out-of-band.ts'

/** The state of one response while it is read. */
export type ResponseReader = {
  readonly decoder: Decoder
  readonly writer: EventWriter
  readonly frameCache: FrameCache | undefined
  /** Called with the length of each received text. Throws if the response is too long. */
  readonly onText: (length: number) => void
  /** Set while raw frames may be passed through: the caller has this format, and all frames so far were conformant. */
  passthrough: RawPassthrough | undefined
  hasStarted: boolean
  /** The out-of-band text of the current network read. */
  outOfBand: readonly OutOfBandText[]
  /** The error that ended the response early. */
  failure: Error | undefined
}

/** How the raw frames of a response are checked and scanned before they reach a caller of the same format. */
export type RawPassthrough = {
  readonly dialect: CallerFormat
  readonly conformance: ConformanceCheck
  readonly shape: AnswerShape
  readonly outOfBandReader: OutOfBandReader
}

/** Decodes a whole response that was not streamed. */
export function decodeDocument(body: JsonRecord, reader: ResponseReader): Chunk {
  const { writer, passthrough } = reader
  reader.decoder.document(body)
  const events = writer.take()
  if (!passthrough?.conformance.document(body)) return { events }
  const { dialect, shape, outOfBandReader } = passthrough
  const outOfBand = outOfBandReader.read(body, shape.document, { events })
  return { events, raw: { kind: 'document', dialect, body }, ...(outOfBand.length > 0 && { outOfBand }) }
}

/**
 * Decodes the frames of one network read, and adds their templates to them. `frames` is undefined at the end of the stream.
 * An error is stored as `reader.failure` and not thrown, because the events before it are still delivered.
 */
export function decodeRead(frames: RawFrame[] | undefined, reader: ResponseReader): Chunk | undefined {
  const { decoder, writer } = reader
  let count = 0
  reader.outOfBand = none
  try {
    if (frames === undefined) finish(decoder, writer)
    else
      for (let frame = frames[0]; frame !== undefined && !writer.hasEnded(); frame = frames[++count])
        frames[count] = decodeFrame(frame, reader)
  } catch (error) {
    reader.failure = error instanceof Error ? error : new Error(String(error))
  }
  const events = writer.take()
  reader.hasStarted ||= events.length > 0
  // Before the first event there are only pings. A failure can then still be retried at another target.
  if (!reader.hasStarted) return undefined
  const { passthrough, outOfBand } = reader
  if (passthrough === undefined || frames === undefined || count === 0)
    return events.length > 0 ? { events } : undefined
  const decodedFrames = count < frames.length ? frames.slice(0, count) : frames
  const raw = { kind: 'frames', dialect: passthrough.dialect, frames: decodedFrames } as const
  const hasPendingBlock = decoder.hasPendingBlock?.() === true
  if (!hasPendingBlock && outOfBand.length === 0) return { events, raw }
  return { events, raw, ...(hasPendingBlock && { hasPendingBlock }), ...(outOfBand.length > 0 && { outOfBand }) }
}

const none: readonly never[] = []

/** The bytes of the stream have ended. Without an `end` event the response is incomplete. */
function finish(decoder: Decoder, writer: EventWriter): void {
  decoder.done()
  if (!writer.hasEnded())
    throw upstreamFailed('The model’s upstream closed the stream before the response was complete.')
}

function decodeFrame(frame: SseFrame, reader: ResponseReader): RawFrame {
  const text = reader.frameCache?.textOf(frame)
  const template = text === undefined ? undefined : reader.frameCache?.template()
  if (text !== undefined && template !== undefined) {
    reader.writer.extendDelta(template.block, text)
    return { event: frame.event, data: frame.data, template }
  }
  if (frame.data.startsWith('[DONE]')) decodeDoneMarker(frame, reader)
  else decodeJson(frame, reader)
  return frame
}

function decodeJson(frame: SseFrame, reader: ResponseReader): void {
  const { decoder, writer, frameCache } = reader
  const body = parseRecord(frame.data)
  if (body === undefined) throw upstreamFailed('The model’s upstream sent a frame that is not a JSON object.')
  const before = writer.pendingCount()
  decoder.event(body, frame.event)
  if (!(hasMatchingName(frame, body) && reader.passthrough?.conformance.event(body))) reader.passthrough = undefined
  const hasOutOfBand = readOutOfBand(frame.data, body, { reader, before })
  // A frame with out-of-band text is not cached, because that text may continue in the next frame.
  frameCache?.set(frame, hasOutOfBand ? undefined : writer.textAfter(before))
}

/** The marker is not JSON and is not scanned, so it is passed through only if the frame contains nothing else. */
function decodeDoneMarker({ event, data }: SseFrame, reader: ResponseReader): void {
  if (event !== undefined || data.trim() !== '[DONE]') reader.passthrough = undefined
  reader.decoder.done()
}

function readOutOfBand(
  data: string,
  body: JsonRecord,
  { reader, before }: { reader: ResponseReader; before: number },
): boolean {
  const { passthrough, writer, onText } = reader
  if (passthrough === undefined) return false
  const { outOfBandReader, shape } = passthrough
  const outOfBand = outOfBandReader.read(body, shape.event, { events: writer.eventsAfter(before), data })
  for (const { text } of outOfBand) onText(text.length)
  if (outOfBand.length > 0) reader.outOfBand = [...reader.outOfBand, ...outOfBand]
  return outOfBand.length > 0
}

/** Clients dispatch on the SSE event name if there is one, so it must match the type in the body. */
const hasMatchingName = ({ event }: SseFrame, { type }: JsonRecord): boolean =>
  event === undefined || typeof type !== 'string' || event === type
