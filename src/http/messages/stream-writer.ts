import type { BlockStart, Citation, InferenceEnd } from '../../domain/inference/events.ts'
import { effectiveStop } from '../../domain/inference/fold.ts'
import type { ReasoningSignature } from '../../domain/inference/request.ts'
import { estimateInputTokens } from '../../domain/inference/count.ts'
import { createAnswerWriter } from '../inference/writing/answer-writer.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import {
  recordAt,
  sseFrame,
  type AnswerContext,
  type StreamWriter,
  type WriteStep,
} from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import { errorBody } from './errors.ts'
import { createMessagesPassthrough, type MessagesPassthrough, type Wire } from './passthrough.ts'
import { formatCitation, formatStop, formatMessagesUsage } from './format.ts'

type State = {
  readonly context: AnswerContext
  /** The wire index of each block. Blocks of other dialects are left out, and indexes must have no gaps. */
  readonly shown: Map<number, { readonly index: number; readonly part: BlockStart }>
  readonly wire: Wire
  readonly passthrough: MessagesPassthrough
  hasToolCall: boolean
  /** A thinking block whose start is delayed until its first text, because it may be a redacted one. */
  delayed: number | undefined
}

/** Writes one answer in the Anthropic event order. */
export function createMessagesWriter(context: AnswerContext): StreamWriter {
  const wire: Wire = { nextIndex: 0, open: new Set() }
  const state: State = {
    context,
    shown: new Map(),
    wire,
    passthrough: createMessagesPassthrough(context, wire),
    hasToolCall: false,
    delayed: undefined,
  }
  return createAnswerWriter({
    dialect: 'messages',
    format: (step) => format(state, step),
    pass: (frame) => state.passthrough.frame(frame),
    track: (step) => step.type === 'open' && trackOpen(state, step.block, step.part),
    afterChunk: () => state.passthrough.dropEnded(),
    end: (end, isPassthrough) => ending(state, end, isPassthrough),
    fail: (fault) => sseFrame('error', JSON.stringify(errorBody(fault, context.requestId))),
  })
}

function format(state: State, step: WriteStep): string {
  switch (step.type) {
    case 'start':
      return messageStart(state, step)
    case 'open':
      return openBlock(state, step.block, step.part)
    case 'delta':
      return step.text === '' ? '' : writeDelta(state, step.block, step.text)
    case 'citation':
      return writeCitation(state, step.block, step.citation)
    case 'signature':
      return writeSignature(state, step.block, step.signature)
    case 'close':
      return closeBlock(state, step.block)
  }
}

function messageStart(state: State, { usage }: Extract<WriteStep, { type: 'start' }>): string {
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
  if (part.type === 'tool-call') state.hasToolCall = true
  if (part.type === 'opaque' && part.dialect !== 'messages') return ''
  const begun = state.passthrough.claim(part)
  if (begun !== undefined) {
    state.shown.set(block, { index: begun, part })
    return ''
  }
  const before = startDelayed(state)
  state.shown.set(block, { index: state.wire.nextIndex++, part })
  if (part.type !== 'thinking') return before + blockStart(state, block, contentBlock(part))
  state.delayed = block
  return before
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

/** Blocks must start in the order of their indexes, so the next block to open ends the delay too. */
function startDelayed(state: State, block = state.delayed): string {
  const { delayed } = state
  if (delayed === undefined || delayed !== block) return ''
  state.delayed = undefined
  return blockStart(state, delayed, { type: 'thinking', thinking: '', signature: '' })
}

function blockStart(state: State, block: number, content: unknown): string {
  const index = state.shown.get(block)?.index ?? 0
  state.wire.open.add(index)
  const json = `{"type":"content_block_start","index":${index},"content_block":${JSON.stringify(content)}}`
  return sseFrame('content_block_start', json)
}

/** The wire index where a block continues. The upstream may have ended the block that was assigned to it. */
function indexOf(state: State, block: number): number | undefined {
  const shown = state.shown.get(block)
  if (shown === undefined || state.delayed === block || state.wire.open.has(shown.index)) return shown?.index
  const index = state.passthrough.claim(shown.part)
  if (index !== undefined) state.shown.set(block, { ...shown, index })
  return index
}

const deltaHeads: Readonly<Record<BlockStart['type'], string>> = {
  text: '{"type":"text_delta","text":',
  refusal: '{"type":"text_delta","text":',
  thinking: '{"type":"thinking_delta","thinking":',
  'tool-call': '{"type":"input_json_delta","partial_json":',
  opaque: '', // has no deltas
}

/** Hot path: runs for every delta. */
function writeDelta(state: State, block: number, text: string): string {
  const index = indexOf(state, block)
  const type = state.shown.get(block)?.part.type
  if (index === undefined || type === undefined) return ''
  return startDelayed(state, block) + delta(index, `${deltaHeads[type]}${JSON.stringify(text)}}`)
}

const delta = (index: number, json: string): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${json}}\n\n`

function writeCitation(state: State, block: number, citation: Citation): string {
  const index = indexOf(state, block)
  if (index === undefined) return ''
  return delta(index, `{"type":"citations_delta","citation":${JSON.stringify(formatCitation(citation))}}`)
}

function writeSignature(state: State, block: number, signature: ReasoningSignature): string {
  const index = indexOf(state, block)
  if (index === undefined) return ''
  const value = signatureText(signature, 'messages')
  if (signature.redacted === true) {
    if (state.delayed !== block) return '' // the upstream's own frames contain it
    state.delayed = undefined
    return blockStart(state, block, { type: 'redacted_thinking', data: value })
  }
  const json = `{"type":"signature_delta","signature":${JSON.stringify(value)}}`
  return startDelayed(state, block) + delta(index, json)
}

function closeBlock(state: State, block: number): string {
  const index = indexOf(state, block)
  return index === undefined ? '' : startDelayed(state, block) + stopBlock(state, index)
}

/** Empty if the upstream has ended the block itself. */
const stopBlock = ({ wire }: State, index: number): string =>
  wire.open.delete(index) ? sseFrame('content_block_stop', `{"type":"content_block_stop","index":${index}}`) : ''

function ending(state: State, end: InferenceEnd, isPassthrough: boolean): string {
  const stop = formatStop(effectiveStop(end.stopReason, state.hasToolCall), end)
  const gatewayEnding = { type: 'message_delta', delta: stop, usage: formatMessagesUsage(end.usage) }
  const message = state.passthrough.ending(gatewayEnding, isPassthrough) ?? gatewayEnding
  const usage = vendorUsage({ ...gatewayEnding.usage, ...recordAt(message, 'usage') }, gatewayEnding.usage, end.usage)
  // The upstream may have started blocks without an event.
  const stops = [...state.wire.open].map((index) => stopBlock(state, index)).join('')
  return (
    stops +
    sseFrame('message_delta', JSON.stringify({ ...message, usage, ...creditFields(end) })) +
    sseFrame('message_stop', '{"type":"message_stop"}')
  )
}

function trackOpen(state: State, block: number, part: BlockStart): void {
  if (part.type === 'tool-call') state.hasToolCall = true
  const index = state.passthrough.claim(part)
  if (index !== undefined) state.shown.set(block, { index, part })
}
