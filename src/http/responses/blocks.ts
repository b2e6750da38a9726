import type { BlockStart, Citation } from '../../domain/inference/events.ts'
import type { ReasoningSignature } from '../../domain/inference/request.ts'
import { sseFrame } from '../inference/writing/stream-writer.ts'
import { freeTextOf } from '../inference/writing/free-text-tools.ts'
import {
  annotationOf,
  freeTextCallItem,
  functionCallItem,
  messageItem,
  reasoningItem,
  refusalPart,
  summaryPart,
  textPart,
} from './items.ts'
import type { Callee } from './namespaces.ts'

/** The sequence number of the next event. */
export type Sequence = { next: number }

/** The items so far by output index, and which of them are complete. The last event repeats all of them. */
export type Output = { readonly items: unknown[]; readonly done: Set<number> }

/** The start of a block, with the tool name that the caller used. */
export type ShownPart =
  | Exclude<BlockStart, { type: 'opaque' | 'tool-call' }>
  | (Extract<BlockStart, { type: 'tool-call' }> & Callee)

/** A block that callers see as an output item, with its text so far. */
export type ShownBlock = {
  readonly part: ShownPart
  readonly itemId: string
  readonly outputIndex: number
  /** The index of its text among the parts of the item. */
  contentIndex: number
  /** Its tool takes free text, which is extracted once the JSON is complete. */
  readonly isFreeText: boolean
  text: string
  /** They are written after the text, because their indexes may cover all of it. */
  citations?: Citation[]
  signature?: ReasoningSignature
  /** The position fields of every delta as JSON, cached. */
  positionJson?: string
  /** The summary part of reasoning is opened with its first text, because thinking may have no text. */
  hasSummary: boolean
}

export function emit(sequence: Sequence, type: string, fields: object): string {
  const number = sequence.next++
  return sseFrame(type, `{"type":"${type}","sequence_number":${number},${JSON.stringify(fields).slice(1)}`)
}

/** Announces the item, and the part that its text goes into. */
export function openFrames(sequence: Sequence, block: ShownBlock): string {
  const added = emit(sequence, 'response.output_item.added', {
    output_index: block.outputIndex,
    item: itemOf(block, 'in_progress'),
  })
  return block.part.type === 'thinking' || block.part.type === 'tool-call' ? added : added + partFrames(sequence, block)
}

/** Announces the part alone. */
export function partFrames(sequence: Sequence, block: ShownBlock): string {
  const part = block.part.type === 'text' ? textPart('') : refusalPart('')
  return emit(sequence, 'response.content_part.added', { ...positionOf(block), part })
}

const deltaTypes: Readonly<Record<ShownBlock['part']['type'], string>> = {
  text: 'response.output_text.delta',
  refusal: 'response.refusal.delta',
  thinking: 'response.reasoning_summary_text.delta',
  'tool-call': 'response.function_call_arguments.delta',
}

/** Hot path: runs for every delta. */
export function deltaFrames(sequence: Sequence, block: ShownBlock, text: string): string {
  const before = block.part.type === 'thinking' && !block.hasSummary ? openSummary(sequence, block) : ''
  block.text += text
  if (block.isFreeText) return ''
  const type = deltaTypes[block.part.type]
  const number = sequence.next++
  block.positionJson ??= JSON.stringify(positionOf(block)).slice(1, -1)
  const logprobs = block.part.type === 'text' ? ',"logprobs":[]' : ''
  return `${before}event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${block.positionJson},"delta":${JSON.stringify(text)}${logprobs}}\n\n`
}

/** Repeats the whole text, as the dialect requires, and completes the item. */
export function closeFrames(sequence: Sequence, block: ShownBlock): string {
  // A call without arguments gets `{}`, because clients parse the joined arguments.
  const hasNoArguments = block.part.type === 'tool-call' && !block.isFreeText && block.text === ''
  const before = hasNoArguments ? deltaFrames(sequence, block, '{}') : ''
  const text = before + doneFrames(sequence, block)
  const item = itemOf(block, 'completed')
  return text + emit(sequence, 'response.output_item.done', { output_index: block.outputIndex, item })
}

function doneFrames(sequence: Sequence, block: ShownBlock): string {
  const position = positionOf(block)
  const { text } = block
  switch (block.part.type) {
    case 'text':
      return (
        annotationFrames(sequence, block) +
        emit(sequence, 'response.output_text.done', { ...position, text, logprobs: [] }) +
        emit(sequence, 'response.content_part.done', { ...position, part: textPart(text, block.citations) })
      )
    case 'refusal':
      return (
        emit(sequence, 'response.refusal.done', { ...position, refusal: text }) +
        emit(sequence, 'response.content_part.done', { ...position, part: refusalPart(text) })
      )
    case 'tool-call':
      if (block.isFreeText)
        return emit(sequence, 'response.custom_tool_call_input.done', { ...position, input: freeTextOf(text) })
      return emit(sequence, 'response.function_call_arguments.done', { ...position, arguments: text })
    case 'thinking':
      if (!block.hasSummary) return ''
      return (
        emit(sequence, 'response.reasoning_summary_text.done', { ...position, text }) +
        emit(sequence, 'response.reasoning_summary_part.done', { ...position, part: summaryPart(text) })
      )
  }
}

function annotationFrames(sequence: Sequence, block: ShownBlock): string {
  let frames = ''
  for (const [at, citation] of block.citations?.entries() ?? []) {
    const fields = { ...positionOf(block), annotation_index: at, annotation: annotationOf(citation, block.text) }
    frames += emit(sequence, 'response.output_text.annotation.added', fields)
  }
  return frames
}

function openSummary(sequence: Sequence, block: ShownBlock): string {
  block.hasSummary = true
  return emit(sequence, 'response.reasoning_summary_part.added', { ...positionOf(block), part: summaryPart('') })
}

/** The item: empty while in progress, with its content once completed. */
export function itemOf(block: ShownBlock, status: 'in_progress' | 'completed') {
  const { part, itemId, text } = block
  switch (part.type) {
    case 'text':
      return messageItem(itemId, status, status === 'completed' ? [textPart(text, block.citations)] : [])
    case 'refusal':
      return messageItem(itemId, status, status === 'completed' ? [refusalPart(text)] : [])
    case 'thinking':
      return reasoningItem(itemId, text, block.signature)
    case 'tool-call':
      if (block.isFreeText) return freeTextCallItem(itemId, status, { ...part, input: freeTextOf(text) })
      return functionCallItem(itemId, status, { ...part, input: text })
  }
}

/** The fields that locate a block's events in the answer. */
function positionOf({ part, itemId, outputIndex, contentIndex }: ShownBlock): object {
  const item = { item_id: itemId, output_index: outputIndex }
  if (part.type === 'tool-call') return item
  return part.type === 'thinking' ? { ...item, summary_index: contentIndex } : { ...item, content_index: contentIndex }
}
