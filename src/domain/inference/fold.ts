import type { BlockStart, InferenceEnd, InferenceEvent, StopReason } from './events.ts'
import { createEventOrder } from './event-order.ts'
import type { Dialect, ReasoningSignature } from './request.ts'

/** A whole answer: what the list of events says once it is complete. */
export type FoldedAnswer = {
  readonly model: string
  readonly blocks: readonly FoldedBlock[]
  /** What the answer shows to have happened; `end.stopReason` is what the upstream said. */
  readonly stopReason: StopReason
  readonly end: InferenceEnd
}

export type FoldedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly proof?: ReasoningSignature }
  /** `input` is JSON text; empty where the model gave no arguments. */
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly input: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'opaque'; readonly dialect: Dialect; readonly raw: unknown }

type Growing = { readonly start: BlockStart; text: string; proof?: ReasoningSignature }

/** Folds a complete list of events into one answer. A list that breaks the grammar or lacks its end is a bug, and throws. */
export function foldEvents(events: Iterable<InferenceEvent>): FoldedAnswer {
  const grammar = createEventOrder()
  const growing: Growing[] = []
  let model = ''
  let end: InferenceEnd | undefined
  for (const event of events) {
    grammar.accept(event)
    if (event.type === 'start') model = event.model
    else if (event.type === 'end') end = event
    else grow(growing, event)
  }
  if (end === undefined) throw new Error('Not a legal answer: it has no end.')
  const blocks = growing.map(finished)
  const hasToolCall = blocks.some((block) => block.type === 'tool-call')
  return { model, blocks, stopReason: effectiveStop(end.stopReason, hasToolCall), end }
}

/**
 * Several upstreams say that they simply stopped although they called a tool; a caller's agent loop would then stop too.
 * A cut-off answer stays a cut-off answer.
 */
export const effectiveStop = (stopReason: StopReason, hasToolCall: boolean): StopReason =>
  hasToolCall && stopReason === 'end' ? 'tool-call' : stopReason

function grow(growing: Growing[], event: Exclude<InferenceEvent, { type: 'start' | 'end' }>): void {
  if (event.type === 'open') {
    growing[event.block] = { start: event.part, text: '' }
    return
  }
  const block = growing[event.block]
  if (block === undefined) return
  if (event.type === 'delta') block.text += event.text
  if (event.type === 'proof') block.proof = event.proof
}

function finished({ start, text, proof }: Growing): FoldedBlock {
  switch (start.type) {
    case 'text':
    case 'refusal':
      return { type: start.type, text }
    case 'thinking':
      return { type: 'thinking', text, ...(proof === undefined ? {} : { proof }) }
    case 'tool-call':
      return { type: 'tool-call', id: start.id, name: start.name, input: text }
    case 'opaque':
      return start
  }
}
