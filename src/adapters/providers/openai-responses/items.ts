import { qualifiedToolName } from '../../../domain/inference/request.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { urlCitationOf } from '../decoding/url-citation.ts'
import { isNonEmptyText } from '../json-values.ts'
import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asRecords, asText } from '../json-values.ts'

/** The position of a text within an item. Summary parts and raw reasoning both belong to the thinking block. */
export type TextPosition = {
  readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning' | 'input'
  readonly index: number
}

/** The part of a text that was emitted, so that a later `done` event adds only the rest. */
type StreamedText = { readonly block: number; text: string; annotationCount: number }

/**
 * One output item of the upstream while it is received: as deltas, as a whole, or as deltas and then as a whole. Text and
 * thinking blocks open with their first text.
 */
export type Item = {
  readonly writer: EventWriter
  /** The vendor's id from the first event of the item; empty if it sent none. */
  readonly id: string
  readonly texts: Map<string, StreamedText>
  thinking: number | undefined
  call: number | undefined
  /** A free-text tool. Its input becomes the only property of a JSON object. */
  isFreeText: boolean
  /** An item type without an equivalent in the event format. It becomes one opaque event when it is complete. */
  isOpaque: boolean
  /** The opaque item as it was emitted. */
  raw: JsonRecord | undefined
  isFinished: boolean
}

export const createItem = (writer: EventWriter, id: string): Item => ({
  writer,
  id,
  texts: new Map(),
  thinking: undefined,
  call: undefined,
  isFreeText: false,
  isOpaque: false,
  raw: undefined,
  isFinished: false,
})

const supportedTypes = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call'])

/** Handles the start of an item. A tool call opens its block here. */
export function beginItem(item: Item, raw: JsonRecord): void {
  item.isOpaque = !supportedTypes.has(asText(raw['type']))
  if (item.call !== undefined || (raw['type'] !== 'function_call' && raw['type'] !== 'custom_tool_call')) return
  item.isFreeText = raw['type'] === 'custom_tool_call'
  const name = qualifiedToolName(asText(raw['namespace']), asText(raw['name']))
  item.call = item.writer.openToolCall(asText(raw['call_id']) || asText(raw['id']), name)
  if (item.isFreeText) item.writer.delta(item.call, '{"input":"')
}

/** Appends a delta. Input of a call without a start event is taken from the completed item instead. */
export function addText(item: Item, position: TextPosition, text: string): void {
  if (text === '' || item.isFinished || (position.kind === 'input' && item.call === undefined)) return
  const streamed = textAt(item, position)
  streamed.text += text
  const isEscaped = position.kind === 'input' && item.isFreeText
  item.writer.delta(streamed.block, isEscaped ? JSON.stringify(text).slice(1, -1) : text)
}

/** Handles the whole text, because some servers send no deltas. A text that differs from its deltas is ignored. */
export function completeText(item: Item, position: TextPosition, text: string): void {
  const emitted = item.texts.get(keyOf(position))?.text ?? ''
  if (text.startsWith(emitted)) addText(item, position, text.slice(emitted.length))
}

/** True if the value is an emitted text of the item, or equals the emitted opaque item. */
export function isEmittedBy({ texts, raw }: Item, value: unknown): boolean {
  if (typeof value !== 'string') return raw !== undefined && JSON.stringify(value) === JSON.stringify(raw)
  for (const { text } of texts.values()) if (text === value) return true
  return false
}

const keyOf = ({ kind, index }: TextPosition): string => `${kind} ${index}`

function textAt(item: Item, position: TextPosition): StreamedText {
  const key = keyOf(position)
  const known = item.texts.get(key)
  if (known !== undefined) return known
  const streamed = { block: blockFor(item, position), text: '', annotationCount: 0 }
  item.texts.set(key, streamed)
  return streamed
}

function blockFor(item: Item, { kind }: TextPosition): number {
  if (kind === 'text' || kind === 'refusal') return item.writer.open({ type: kind })
  if (kind === 'input') return item.call ?? -1
  if (item.thinking === undefined) return (item.thinking = item.writer.open({ type: 'thinking' }))
  // The parts of a summary share one thinking block, with blank lines between them.
  item.writer.delta(item.thinking, '\n\n')
  return item.thinking
}

/** Handles the completed item: emits what is missing and closes its blocks. */
export function finishItem(item: Item, raw: JsonRecord): void {
  if (item.isFinished) return
  beginItem(item, raw)
  switch (raw['type']) {
    case 'message':
      for (const [index, part] of asRecords(raw['content']).entries()) completePart(item, index, part)
      break
    case 'reasoning':
      completeReasoning(item, raw)
      break
    case 'function_call':
      completeText(item, { kind: 'input', index: 0 }, asText(raw['arguments']))
      break
    case 'custom_tool_call':
      completeText(item, { kind: 'input', index: 0 }, asText(raw['input']))
      break
    default:
      // Clients fail on an item without a type or an id, so it is dropped.
      if (!isNonEmptyText(raw['type']) || !isNonEmptyText(raw['id'])) break
      item.raw = raw
      item.writer.close(item.writer.open({ type: 'opaque', dialect: 'responses', raw }))
  }
  closeItem(item)
}

function completePart(item: Item, index: number, part: JsonRecord): void {
  if (part['type'] === 'refusal') completeText(item, { kind: 'refusal', index }, asText(part['refusal']))
  else {
    completeText(item, { kind: 'text', index }, asText(part['text']))
    const known = item.texts.get(keyOf({ kind: 'text', index }))?.annotationCount
    for (const annotation of asList(part['annotations']).slice(known)) addAnnotation(item, index, annotation)
  }
}

/** Handles an annotation of a text. One that comes before its text is taken from the completed item instead. */
export function addAnnotation(item: Item, index: number, annotation: unknown): void {
  const text = item.texts.get(keyOf({ kind: 'text', index }))
  if (text === undefined) return
  text.annotationCount += 1
  const citation = urlCitationOf(asRecord(annotation) ?? {})
  if (citation !== undefined) item.writer.citation(text.block, citation)
}

function completeReasoning(item: Item, raw: JsonRecord): void {
  for (const [index, part] of asRecords(raw['summary']).entries()) {
    completeText(item, { kind: 'summary', index }, asText(part['text']))
  }
  for (const [index, part] of asRecords(raw['content']).entries()) {
    completeText(item, { kind: 'reasoning', index }, asText(part['text']))
  }
  const value = asText(raw['encrypted_content'])
  if (value === '') return
  item.thinking ??= item.writer.open({ type: 'thinking' })
  const id = asText(raw['id'])
  item.writer.signature(item.thinking, { format: 'responses', value, ...(id !== '' && { id }) })
}

function closeItem(item: Item): void {
  item.isFinished = true
  if (item.isFreeText && item.call !== undefined) item.writer.delta(item.call, '"}')
  const blocks = [item.thinking, item.call, ...Array.from(item.texts.values(), ({ block }) => block)]
  for (const block of new Set(blocks)) if (block !== undefined) item.writer.close(block)
}
