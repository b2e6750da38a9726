import type { BlockStart, InferenceEnd, InferenceEvent, OriginalFrame } from '../../domain/inference/events.ts'
import { effectiveStop } from '../../domain/inference/fold.ts'
import { createGrammar, type Grammar } from '../../domain/inference/grammar.ts'
import type { Proof } from '../../domain/inference/request.ts'
import { estimateInputTokens } from '../../domain/inference/count.ts'
import { creditFields } from '../credit-fields.ts'
import { proofText } from '../proof-envelope.ts'
import { framesIn, sseFrame, type AnswerContext, type StreamWriter } from '../stream-writer.ts'
import { errorBody } from './errors.ts'
import { createForwarding, type Forwarding } from './forward.ts'
import { spellStop, spellUsage } from './spelling.ts'

type State = {
  readonly context: AnswerContext
  readonly grammar: Grammar
  /** Where each block stands on the wire. Blocks of other dialects are left out, and no gap may remain. */
  readonly shown: Map<number, { readonly index: number; readonly part: BlockStart }>
  readonly forwarding: Forwarding
  nextIndex: number
  hasToolCall: boolean
  /** A thinking block whose start waits for its first word: it may turn out to be a redacted one. */
  waiting: number | undefined
  hasFailed: boolean
}

/** Writes one answer in the Anthropic event order. */
export function createMessagesWriter(context: AnswerContext): StreamWriter {
  const state: State = {
    context,
    grammar: createGrammar(),
    shown: new Map(),
    forwarding: createForwarding(context),
    nextIndex: 0,
    hasToolCall: false,
    waiting: undefined,
    hasFailed: false,
  }
  const write = (events: readonly InferenceEvent[]): string => {
    let text = ''
    for (const event of events) text += writeEvent(state, event)
    return text
  }
  const hasEnded = (): boolean => state.hasFailed || state.grammar.hasEnded()
  return {
    write,
    forward(piece) {
      if (hasEnded() && piece.events.length === 0) return '' // what an upstream sends after its end
      const frames = framesIn('messages', piece)
      return frames === undefined ? write(piece.events) : forwardFrames(state, frames, piece.events)
    },
    fail(fault) {
      if (hasEnded()) return ''
      state.hasFailed = true
      return sseFrame('error', JSON.stringify(errorBody(fault, context.requestId)))
    },
    hasEnded,
  }
}

function accept(state: State, event: InferenceEvent): void {
  if (state.hasFailed) throw new Error(`Not a legal answer: ${event.type} after a failure.`)
  state.grammar.accept(event)
}

function writeEvent(state: State, event: InferenceEvent): string {
  accept(state, event)
  switch (event.type) {
    case 'start':
      return messageStart(state, event)
    case 'open':
      return openBlock(state, event.block, event.part)
    case 'delta':
      return event.text === '' ? '' : writeDelta(state, event.block, event.text)
    case 'proof':
      return writeProof(state, event.block, event.proof)
    case 'close':
      return closeBlock(state, event.block)
    case 'end':
      return ending(state, event, false)
  }
}

function messageStart(state: State, { usage }: Extract<InferenceEvent, { type: 'start' }>): string {
  const { id, model, request } = state.context
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: usage?.inputTokens ?? estimateInputTokens(request),
      cache_creation_input_tokens: usage?.cacheWriteTokens ?? 0,
      cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
      output_tokens: 0, // some clients add the two output counts of a stream
    },
  }
  return sseFrame('message_start', JSON.stringify({ type: 'message_start', message }))
}

function openBlock(state: State, block: number, part: BlockStart): string {
  if (isForeign(part)) return ''
  const before = showWaiting(state)
  place(state, block, part)
  if (part.type !== 'thinking') return before + blockStart(state, block, contentBlock(part))
  state.waiting = block
  return before
}

/** Only its own dialect understands it. */
const isForeign = (part: BlockStart): boolean => part.type === 'opaque' && part.dialect !== 'messages'

function place(state: State, block: number, part: BlockStart): void {
  state.shown.set(block, { index: state.nextIndex, part })
  state.nextIndex += 1
  if (part.type === 'tool-call') state.hasToolCall = true
}

function contentBlock(part: Exclude<BlockStart, { type: 'thinking' }>): unknown {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' }
    case 'tool-call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} }
    case 'opaque':
      return part.raw
  }
}

/** Blocks must begin in the order of their indexes, so the next one to open ends the waiting too. */
function showWaiting(state: State, block = state.waiting): string {
  const { waiting } = state
  if (waiting === undefined || waiting !== block) return ''
  state.waiting = undefined
  return blockStart(state, waiting, { type: 'thinking', thinking: '', signature: '' })
}

const blockStart = (state: State, block: number, content: unknown): string =>
  sseFrame(
    'content_block_start',
    `{"type":"content_block_start","index":${indexOf(state, block)},"content_block":${JSON.stringify(content)}}`,
  )

const indexOf = (state: State, block: number): number | undefined => state.shown.get(block)?.index

const deltaHeads: Readonly<Record<BlockStart['type'], string>> = {
  text: '{"type":"text_delta","text":',
  refusal: '{"type":"text_delta","text":',
  thinking: '{"type":"thinking_delta","thinking":',
  'tool-call': '{"type":"input_json_delta","partial_json":',
  opaque: '', // has no deltas
}

/** The one place that runs for every few characters of an answer. */
function writeDelta(state: State, block: number, text: string): string {
  const shown = state.shown.get(block)
  if (shown === undefined) return ''
  return showWaiting(state, block) + delta(shown.index, `${deltaHeads[shown.part.type]}${JSON.stringify(text)}}`)
}

const delta = (index: number | undefined, json: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${json}}\n\n`

function writeProof(state: State, block: number, proof: Proof): string {
  const value = proofText(proof, 'messages')
  if (proof.redacted === true && state.waiting === block) {
    state.waiting = undefined
    return blockStart(state, block, { type: 'redacted_thinking', data: value })
  }
  const signature = `{"type":"signature_delta","signature":${JSON.stringify(value)}}`
  return showWaiting(state, block) + delta(indexOf(state, block), signature)
}

function closeBlock(state: State, block: number): string {
  const index = indexOf(state, block)
  if (index === undefined) return ''
  return showWaiting(state, block) + sseFrame('content_block_stop', `{"type":"content_block_stop","index":${index}}`)
}

function ending(state: State, end: InferenceEnd, isForwarded: boolean): string {
  const stop = spellStop(effectiveStop(end.stopReason, state.hasToolCall), end)
  const ours = { type: 'message_delta', delta: stop, usage: spellUsage(end.usage) }
  const message = state.forwarding.ending(ours, isForwarded) ?? ours
  return (
    sseFrame('message_delta', JSON.stringify({ ...message, ...creditFields(end) })) +
    sseFrame('message_stop', '{"type":"message_stop"}')
  )
}

function forwardFrames(state: State, frames: readonly OriginalFrame[], events: readonly InferenceEvent[]): string {
  let text = showWaiting(state)
  let end: InferenceEnd | undefined
  for (const event of events) {
    accept(state, event)
    if (event.type === 'open' && !isForeign(event.part)) place(state, event.block, event.part)
    if (event.type === 'end') end = event
  }
  for (const frame of frames) text += state.forwarding.frame(frame)
  return end === undefined ? text : text + ending(state, end, true)
}
