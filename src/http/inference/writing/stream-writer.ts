import type { Ids } from '../../../base/ids.ts'
import type { Fault } from '../../../base/fault.ts'
import { isRecord } from '../../../base/record.ts'
import type { InferenceEnd, InferenceEvent, RawFrame, Chunk } from '../../../domain/inference/events.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import type { InferenceRequest, ModelRequest } from '../../../domain/inference/request.ts'

/** What an endpoint needs besides the events to encode an answer. */
export type AnswerContext<Request extends ModelRequest = InferenceRequest> = {
  /** The id of the answer: `msg_…`, `resp_…`, `chatcmpl-…`. */
  readonly id: string
  /** The name the caller used for the model, whatever the upstream calls it. */
  readonly model: string
  readonly createdAtSeconds: number
  readonly requestId: string
  readonly request: Request
  readonly newId: Ids
  /** Further fields that the answer repeats, in dialects that repeat the request. */
  readonly echo?: Readonly<Record<string, unknown>>
  /** True if a chat caller declared `functions`, the older form of tools. */
  readonly usesFunctions?: boolean
}

/** Any event of an answer except its last. */
export type WriteStep = Exclude<InferenceEvent, InferenceEnd>

/** Writes one answer as server-sent events. An illegal event throws a plain Error, because it is a bug. */
export type StreamWriter = {
  /** All frames of these events as one text. */
  write(events: readonly InferenceEvent[]): string
  /** Like `write`, but passes the raw frames through if the upstream has the caller's dialect. */
  forward(chunk: Chunk): string
  /** The dialect's error event. May be called in every state; empty after the end. */
  fail(fault: Fault): string
  /** True after the end or a failure: nothing may follow. */
  hasEnded(): boolean
}

/** One server-sent event; `json` must be one line, as `JSON.stringify` makes it. */
export const sseFrame = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`

/** The unchanged frame of an upstream. */
export function sameFrame({ event, data }: RawFrame): string {
  return event === undefined ? `data: ${linesOf(data)}\n\n` : sseFrame(event, linesOf(data))
}

/** Each line of a frame's data needs its own `data:` field. */
export const linesOf = (data: string): string => (data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data)

/** The upstream's raw frames, if they are in the caller's dialect. */
export function framesIn(dialect: CallerFormat, { raw }: Chunk): readonly RawFrame[] | undefined {
  return raw?.kind === 'frames' && raw.dialect === dialect ? raw.frames : undefined
}

/** The object in a frame's data. The provider has parsed it before, so anything else is a bug. */
export function frameObject(data: string): Record<string, unknown> {
  const value: unknown = JSON.parse(data)
  if (isRecord(value)) return value
  throw new Error('A raw frame is not a JSON object.')
}

/** The object in a field, or an empty one. */
export function recordAt(holder: Readonly<Record<string, unknown>> | undefined, key: string): Record<string, unknown> {
  const value = holder?.[key]
  return isRecord(value) ? value : {}
}

/** The type of a frame: its event name, or the `type` in its data. */
export function frameType({ event, data }: RawFrame): string {
  if (event !== undefined) return event
  const { type } = frameObject(data)
  return typeof type === 'string' ? type : ''
}
