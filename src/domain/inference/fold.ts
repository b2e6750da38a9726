import type { BlockStart, Citation, InferenceEnd, InferenceEvent, StopReason } from './events.ts'
import { createEventOrder } from './event-order.ts'
import type { CallerFormat } from './formats.ts'
import type { ReasoningSignature } from './request.ts'

/** A complete response, assembled from its events. */
export type FoldedAnswer = {
  readonly model: string
  readonly blocks: readonly FoldedBlock[]
  /** The corrected stop reason, see `effectiveStop`. `end.stopReason` is the one that the upstream reported. */
  readonly stopReason: StopReason
  readonly end: InferenceEnd
}

export type FoldedBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations?: readonly Citation[] }
  | { readonly type: 'thinking'; readonly text: string; readonly signature?: ReasoningSignature }
  /** `input` is JSON text. It is empty if the model sent no arguments. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'opaque'; readonly dialect: CallerFormat; readonly raw: unknown }

type PartialBlock = { readonly start: BlockStart; text: string; citations?: Citation[]; signature?: ReasoningSignature }

/** Assembles a complete list of events. Throws if the order is illegal or the end is missing, because that is a bug. */
export function foldEvents(events: Iterable<InferenceEvent>): FoldedAnswer {
  const order = createEventOrder()
  const partial: PartialBlock[] = []
  let model = ''
  let end: InferenceEnd | undefined
  for (const event of events) {
    order.accept(event)
    if (event.type === 'start') model = event.model
    else if (event.type === 'end') end = event
    else append(partial, event)
  }
  if (end === undefined) throw new Error('Illegal event order: the end is missing.')
  const blocks = partial.map(completed)
  const hasToolCall = blocks.some((block) => block.type === 'tool-call')
  return { model, blocks, stopReason: effectiveStop(end.stopReason, hasToolCall), end }
}

/**
 * Some upstreams report a normal end although the model called a tool, and an agent loop would then stop early. Other
 * reasons, such as a length limit, are kept.
 */
export const effectiveStop = (stopReason: StopReason, hasToolCall: boolean): StopReason =>
  hasToolCall && stopReason === 'end' ? 'tool-call' : stopReason

function append(partial: PartialBlock[], event: Exclude<InferenceEvent, { type: 'start' | 'end' }>): void {
  if (event.type === 'open') {
    partial[event.block] = { start: event.part, text: '' }
    return
  }
  const block = partial[event.block]
  if (block === undefined) return
  if (event.type === 'delta') block.text += event.text
  if (event.type === 'citation') (block.citations ??= []).push(event.citation)
  if (event.type === 'signature') block.signature = event.signature
}

function completed({ start, text, citations, signature }: PartialBlock): FoldedBlock {
  switch (start.type) {
    case 'text':
      return { type: 'text', text, ...(citations && { citations }) }
    case 'refusal':
      return { type: 'refusal', text }
    case 'thinking':
      return { type: 'thinking', text, ...(signature === undefined ? {} : { signature }) }
    case 'tool-call':
      return { type: 'tool-call', id: start.id, name: start.name, input: text }
    case 'opaque':
      return start
  }
}
