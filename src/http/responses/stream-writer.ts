import type { Fault } from '../../base/fault.ts'
import { isRecord } from '../../base/record.ts'
import type { BlockStart, InferenceEnd } from '../../domain/inference/events.ts'
import { effectiveStop } from '../../domain/inference/fold.ts'
import { createAnswerWriter } from '../inference/writing/answer-writer.ts'
import { freeTextTools } from '../inference/writing/free-text-tools.ts'
import { sseFrame, type AnswerContext, type StreamWriter, type WriteStep } from '../inference/writing/stream-writer.ts'
import {
  closeFrames,
  deltaFrames,
  emit,
  itemOf,
  openFrames,
  partFrames,
  type Output,
  type Sequence,
  type ShownBlock,
  type ShownPart,
} from './blocks.ts'
import { errorEvent } from './errors.ts'
import { createResponsesPassthrough, type ResponsesPassthrough } from './passthrough.ts'
import { createCalleeOf, type CalleeOf } from './namespaces.ts'
import { beginning, echoOf, ended, incompleteReason } from './format.ts'

type State = {
  readonly context: AnswerContext
  readonly sequence: Sequence
  readonly open: Map<number, ShownBlock>
  readonly output: Output
  readonly freeText: ReadonlySet<string>
  readonly calleeOf: CalleeOf
  readonly passthrough: ResponsesPassthrough
  /** The repeated request fields as JSON, cached because three events contain them. */
  readonly echo: string
  hasCreated: boolean
  hasToolCall: boolean
  hasRefusal: boolean
}

/** Writes one answer in the event order of the Responses API. */
export function createResponsesWriter(context: AnswerContext): StreamWriter {
  const sequence: Sequence = { next: 0 }
  const output: Output = { items: [], done: new Set() }
  const state: State = {
    context,
    sequence,
    open: new Map(),
    output,
    freeText: freeTextTools(context.request),
    calleeOf: createCalleeOf(context.request),
    passthrough: createResponsesPassthrough(context, sequence, output),
    echo: JSON.stringify(echoOf(context)).slice(1),
    hasCreated: false,
    hasToolCall: false,
    hasRefusal: false,
  }
  return createAnswerWriter({
    dialect: 'responses',
    format: (step) => format(state, step),
    pass: (frame) => state.passthrough.frame(frame),
    track: (step) => track(state, step),
    afterChunk: () => state.passthrough.dropDone(),
    end: (end, isPassthrough) => ending(state, end, isPassthrough),
    fail: (fault) => fail(state, fault),
  })
}

function format(state: State, step: WriteStep): string {
  switch (step.type) {
    case 'start':
      state.hasCreated = true
      return responseFrame(state, 'response.created', beginning(state.context)) + inProgress(state)
    case 'open':
      trackPart(state, step.part)
      return openBlock(state, step.block, step.part)
    case 'delta': {
      const block = blockOf(state, step.block)
      return block === undefined || step.text === '' ? '' : deltaFrames(state.sequence, block, step.text)
    }
    case 'citation': {
      const block = blockOf(state, step.block)
      if (block !== undefined) (block.citations ??= []).push(step.citation)
      return ''
    }
    case 'signature': {
      const block = blockOf(state, step.block)
      if (block !== undefined) block.signature = step.signature
      return ''
    }
    case 'close':
      return closeBlock(state, step.block)
  }
}

function trackPart(state: State, { type }: BlockStart): void {
  if (type === 'tool-call') state.hasToolCall = true
  if (type === 'refusal') state.hasRefusal = true
}

const inProgress = (state: State): string => responseFrame(state, 'response.in_progress', beginning(state.context))

/** An event that carries the whole response. */
function responseFrame({ sequence, echo }: State, type: string, response: object): string {
  const number = sequence.next++
  const text = `${JSON.stringify(response).slice(0, -1)},${echo}`
  return sseFrame(type, `{"type":"${type}","sequence_number":${number},"response":${text}}`)
}

const idPrefixes = { text: 'msg', refusal: 'msg', thinking: 'rs', 'tool-call': 'fc', freeText: 'ctc' } as const

function openBlock(state: State, block: number, part: BlockStart): string {
  const { sequence, output, context } = state
  const outputIndex = output.items.length
  if (part.type === 'opaque') {
    if (part.dialect !== 'responses') return ''
    output.items.push(part.raw)
    output.done.add(outputIndex)
    const fields = { output_index: outputIndex, item: part.raw }
    return emit(sequence, 'response.output_item.added', fields) + emit(sequence, 'response.output_item.done', fields)
  }
  const shownPart = withCallee(state, part)
  const begun = state.passthrough.blockFor(shownPart)
  if (begun !== undefined) {
    state.open.set(block, begun)
    return ''
  }
  const empty = state.passthrough.messageFor(shownPart)
  if (empty !== undefined) {
    state.open.set(block, empty)
    return partFrames(sequence, empty)
  }
  const isFreeText = part.type === 'tool-call' && state.freeText.has(part.name)
  const itemId = context.newId(idPrefixes[isFreeText ? 'freeText' : part.type])
  const shown = { part: shownPart, itemId, outputIndex, contentIndex: 0, isFreeText, text: '', hasSummary: false }
  output.items.push(itemOf(shown, 'in_progress'))
  state.open.set(block, shown)
  return openFrames(sequence, shown)
}

/** Replaces the tool name by the one that the caller used. */
const withCallee = ({ calleeOf }: State, part: Exclude<BlockStart, { type: 'opaque' }>): ShownPart =>
  part.type === 'tool-call' ? { ...part, ...calleeOf(part.name) } : part

/** The item where a block continues. The upstream may have completed the item that was assigned to it. */
function blockOf({ open, output, passthrough }: State, block: number): ShownBlock | undefined {
  const shown = open.get(block)
  if (shown === undefined || !output.done.has(shown.outputIndex)) return shown
  const other = passthrough.blockFor(shown.part)
  if (other === undefined) open.delete(block)
  else open.set(block, other)
  return other
}

function closeBlock(state: State, block: number): string {
  const shown = blockOf(state, block)
  if (shown === undefined) return ''
  state.open.delete(block)
  const frames = closeFrames(state.sequence, shown)
  complete(state, shown)
  return frames
}

function complete({ output }: State, shown: ShownBlock): void {
  output.items[shown.outputIndex] = itemOf(shown, 'completed')
  output.done.add(shown.outputIndex)
}

/** Items that a check cut off stay in the list as incomplete. */
const itemsOf = ({ items, done }: Output): unknown[] =>
  items.map((item, at) => (isRecord(item) && !done.has(at) ? { ...item, status: 'incomplete' } : item))

function ending(state: State, end: InferenceEnd, isPassthrough: boolean): string {
  const { context, output } = state
  const reason = incompleteReason(effectiveStop(end.stopReason, state.hasToolCall), state.hasRefusal)
  const response = ended(context, end, { output: itemsOf(output), reason })
  const own = state.passthrough.ending(response, end, isPassthrough)
  if (own !== undefined) return emit(state.sequence, `response.${String(own['status'])}`, { response: own })
  return responseFrame(state, `response.${response.status}`, response)
}

/** SDKs stop at the error event. Agents wait for a final response, so `response.failed` follows. */
function fail(state: State, fault: Fault): string {
  const event = errorEvent(fault, state.context.requestId, state.sequence.next++)
  const error = sseFrame('error', JSON.stringify(event))
  if (!state.hasCreated) return error
  const { code, message } = event
  const failed = { ...beginning(state.context), status: 'failed', error: { code, message } }
  return error + responseFrame(state, 'response.failed', failed)
}

function track(state: State, step: WriteStep): void {
  if (step.type === 'start') {
    state.hasCreated = true
    return
  }
  if (step.type === 'open') {
    trackPart(state, step.part)
    const shown = step.part.type === 'opaque' ? undefined : state.passthrough.blockFor(withCallee(state, step.part))
    if (shown !== undefined) state.open.set(step.block, shown)
    return
  }
  const shown = state.open.get(step.block)
  if (shown === undefined) return
  if (step.type === 'delta') shown.text += step.text
  else if (step.type === 'citation') (shown.citations ??= []).push(step.citation)
  else if (step.type === 'signature') shown.signature = step.signature
  else closePassthrough(state, step.block, shown)
}

/** Keeps the upstream's own completed item, if there is one. */
function closePassthrough(state: State, block: number, shown: ShownBlock): void {
  state.open.delete(block)
  if (!state.output.done.has(shown.outputIndex)) complete(state, shown)
}
