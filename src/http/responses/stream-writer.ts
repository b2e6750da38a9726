import type { Fault } from '../../base/fault.ts'
import type { BlockStart, InferenceEnd, InferenceEvent, OriginalFrame } from '../../domain/inference/events.ts'
import { effectiveStop } from '../../domain/inference/fold.ts'
import { createGrammar, type Grammar } from '../../domain/inference/grammar.ts'
import { framesIn, sseFrame, type AnswerContext, type StreamWriter } from '../stream-writer.ts'
import { closeFrames, deltaFrames, emit, itemOf, openFrames, type Sequence, type ShownBlock } from './blocks.ts'
import { errorEvent } from './errors.ts'
import { createForwarding, type Forwarding } from './forward.ts'
import { beginning, echoOf, ended, incompleteReason } from './spelling.ts'

type State = {
  readonly context: AnswerContext
  readonly grammar: Grammar
  readonly sequence: Sequence
  readonly open: Map<number, ShownBlock>
  /** The items so far, by output index: the last event repeats them all. */
  readonly output: unknown[]
  readonly forwarding: Forwarding
  /** What the response repeats of its request: written three times, so spelled once. */
  readonly echo: string
  hasCreated: boolean
  hasToolCall: boolean
  hasRefusal: boolean
  hasFailed: boolean
}

/** Writes one answer in the event order of the Responses API. */
export function createResponsesWriter(context: AnswerContext): StreamWriter {
  const sequence: Sequence = { next: 0 }
  const output: unknown[] = []
  const state: State = {
    context,
    grammar: createGrammar(),
    sequence,
    open: new Map(),
    output,
    forwarding: createForwarding(context, sequence, output),
    echo: JSON.stringify(echoOf(context)).slice(1),
    hasCreated: false,
    hasToolCall: false,
    hasRefusal: false,
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
      const frames = framesIn('responses', piece)
      return frames === undefined ? write(piece.events) : forwardFrames(state, frames, piece.events)
    },
    fail: (fault) => (hasEnded() ? '' : fail(state, fault)),
    hasEnded,
  }
}

function accept(state: State, event: InferenceEvent): void {
  if (state.hasFailed) throw new Error(`Not a legal answer: ${event.type} after a failure.`)
  state.grammar.accept(event)
  if (event.type !== 'open') return
  if (event.part.type === 'tool-call') state.hasToolCall = true
  if (event.part.type === 'refusal') state.hasRefusal = true
}

function writeEvent(state: State, event: InferenceEvent): string {
  accept(state, event)
  switch (event.type) {
    case 'start':
      state.hasCreated = true
      return responseFrame(state, 'response.created', beginning(state.context)) + inProgress(state)
    case 'open':
      return openBlock(state, event.block, event.part)
    case 'delta': {
      const block = state.open.get(event.block)
      return block === undefined || event.text === '' ? '' : deltaFrames(state.sequence, block, event.text)
    }
    case 'proof': {
      const block = state.open.get(event.block)
      if (block !== undefined) block.proof = event.proof
      return ''
    }
    case 'close':
      return closeBlock(state, event.block)
    case 'end':
      return ending(state, event, false)
  }
}

const inProgress = (state: State): string => responseFrame(state, 'response.in_progress', beginning(state.context))

/** An event that carries the whole response. */
function responseFrame({ sequence, echo }: State, type: string, response: object): string {
  const number = sequence.next++
  const text = `${JSON.stringify(response).slice(0, -1)},${echo}`
  return sseFrame(type, `{"type":"${type}","sequence_number":${number},"response":${text}}`)
}

const idPrefixes = { text: 'msg', refusal: 'msg', thinking: 'rs', 'tool-call': 'fc' } as const

function openBlock(state: State, block: number, part: BlockStart): string {
  const { sequence, output, context } = state
  const outputIndex = output.length
  if (part.type === 'opaque') {
    if (part.dialect !== 'responses') return ''
    output.push(part.raw)
    const fields = { output_index: outputIndex, item: part.raw }
    return emit(sequence, 'response.output_item.added', fields) + emit(sequence, 'response.output_item.done', fields)
  }
  const itemId = context.newId(idPrefixes[part.type])
  const shown: ShownBlock = { part, itemId, outputIndex, contentIndex: 0, text: '', hasSummary: false }
  output.push(itemOf(shown, 'in_progress'))
  state.open.set(block, shown)
  return openFrames(sequence, shown)
}

function closeBlock(state: State, block: number): string {
  const shown = state.open.get(block)
  if (shown === undefined) return ''
  state.open.delete(block)
  const frames = closeFrames(state.sequence, shown)
  state.output[shown.outputIndex] = itemOf(shown, 'completed')
  return frames
}

function ending(state: State, end: InferenceEnd, isForwarded: boolean): string {
  const { context, output } = state
  const reason = incompleteReason(effectiveStop(end.stopReason, state.hasToolCall), state.hasRefusal)
  const response = ended(context, end, { output, reason })
  const own = state.forwarding.ending(response, end, isForwarded)
  if (own !== undefined) return emit(state.sequence, `response.${String(own['status'])}`, { response: own })
  return responseFrame(state, `response.${response.status}`, response)
}

/** The error event ends it for the SDKs; agents that wait for the response to end are told that it failed. */
function fail(state: State, fault: Fault): string {
  state.hasFailed = true
  const event = errorEvent(fault, state.context.requestId, state.sequence.next++)
  const error = sseFrame('error', JSON.stringify(event))
  if (!state.hasCreated) return error
  const { code, message } = event
  const failed = { ...beginning(state.context), status: 'failed', error: { code, message } }
  return error + responseFrame(state, 'response.failed', failed)
}

function forwardFrames(state: State, frames: readonly OriginalFrame[], events: readonly InferenceEvent[]): string {
  let text = ''
  let end: InferenceEnd | undefined
  for (const frame of frames) text += state.forwarding.frame(frame)
  for (const event of events) {
    accept(state, event)
    if (event.type === 'end') end = event
    else noteEvent(state, event)
  }
  return end === undefined ? text : text + ending(state, end, true)
}

/** Keeps what is needed to end the answer in our own words, should a check cut the upstream short. */
function noteEvent(state: State, event: Exclude<InferenceEvent, InferenceEnd>): void {
  if (event.type === 'start') {
    state.hasCreated = true
    return
  }
  if (event.type === 'open') {
    const shown = event.part.type === 'opaque' ? undefined : state.forwarding.blockFor(event.part)
    if (shown !== undefined) state.open.set(event.block, shown)
    return
  }
  const shown = state.open.get(event.block)
  if (shown === undefined) return
  if (event.type === 'delta') shown.text += event.text
  else if (event.type === 'proof') shown.proof = event.proof
  else closeForwarded(state, event.block, shown)
}

/** The upstream's own item is the better one, if it has come. */
function closeForwarded(state: State, block: number, shown: ShownBlock): void {
  state.open.delete(block)
  if (!state.forwarding.isDone(shown.outputIndex)) state.output[shown.outputIndex] = itemOf(shown, 'completed')
}
