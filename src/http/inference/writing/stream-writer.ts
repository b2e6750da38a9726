import type { Ids } from '../../../base/ids.ts'
import type { Fault } from '../../../base/fault.ts'
import { isRecord } from '../../../base/record.ts'
import type { InferenceEvent, RawFrame, Chunk } from '../../../domain/inference/events.ts'
import type { Dialect, InferenceRequest } from '../../../domain/inference/request.ts'

/** What a door needs besides the events to spell an answer. */
export type AnswerContext = {
  /** The answer's own id: `msg_…`, `resp_…`, `chatcmpl-…`. */
  readonly id: string
  /** The name the caller used for the model, whatever the upstream calls it. */
  readonly model: string
  readonly createdAtSeconds: number
  readonly requestId: string
  readonly request: InferenceRequest
  readonly newId: Ids
  /** What the answer repeats besides its request, where the dialect repeats anything. */
  readonly echo?: Readonly<Record<string, unknown>>
}

/** Writes one answer as server-sent events. An illegal step throws an Error: it is a bug, and no caller may see it. */
export type StreamWriter = {
  /** All frames of these events as one text. */
  write(events: readonly InferenceEvent[]): string
  /** Like `write`, but in the upstream's own words where it speaks the caller's dialect. */
  forward(piece: Chunk): string
  /** The dialect's way to say that the answer failed. Right in every state; empty after the end. */
  fail(fault: Fault): string
  /** True once nothing may follow, be it after the end or after a failure. */
  hasEnded(): boolean
}

/** One server-sent event; `json` must be one line, as `JSON.stringify` makes it. */
export const sseFrame = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`

/** An upstream's frame as it was. */
export function sameFrame({ event, data }: RawFrame): string {
  return event === undefined ? `data: ${linesOf(data)}\n\n` : sseFrame(event, linesOf(data))
}

/** A frame's data may have had several lines, each of which needs its own field name. */
export const linesOf = (data: string): string => (data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data)

/** The upstream's own frames, where they are in the caller's dialect. */
export function framesIn(dialect: Dialect, { raw: original }: Chunk): readonly RawFrame[] | undefined {
  return original?.kind === 'frames' && original.dialect === dialect ? original.frames : undefined
}

/** The object in a frame's data. The adapter has read it before us, so anything else is a bug. */
export function frameObject(data: string): Record<string, unknown> {
  const value: unknown = JSON.parse(data)
  if (isRecord(value)) return value
  throw new Error('A forwarded frame does not hold a JSON object.')
}

/** The object in a field; an empty one where there is none. */
export function recordAt(holder: Readonly<Record<string, unknown>> | undefined, key: string): Record<string, unknown> {
  const value = holder?.[key]
  return isRecord(value) ? value : {}
}

/** The name of a frame: of its event line, or what its data says of itself. */
export function frameType({ event, data }: RawFrame): string {
  if (event !== undefined) return event
  const { type } = frameObject(data)
  return typeof type === 'string' ? type : ''
}
