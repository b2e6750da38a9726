import { nameWithin } from '../../../domain/inference/tool-name.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { isNamed } from '../decoding/conformance-check.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecords, asText } from '../json-values.ts'

/** Where a text stands in an item: summary parts and raw reasoning are both thinking. */
export type TextPosition = {
  readonly kind: 'text' | 'refusal' | 'summary' | 'reasoning' | 'input'
  readonly index: number
}

/** A text as far as it is written, so that a later `done` adds only what is missing. */
type Growing = { readonly block: number; text: string }

/**
 * One output item of theirs while it is told, in pieces, as a whole, or in pieces and then as a whole.
 * A message or a thought gets its block only once there is something in it.
 */
export type Item = {
  readonly write: EventWriter
  /** Theirs, as it was first told; empty where it was not. */
  readonly id: string
  readonly texts: Map<string, Growing>
  thinking: number | undefined
  call: number | undefined
  /** A tool of free text: its input is told as the one text of a JSON object. */
  isFreeText: boolean
  /** Only its own dialect understands it: it is told of as a whole, once it is finished. */
  isOpaque: boolean
  /** The same as it was told. */
  raw: JsonRecord | undefined
  isFinished: boolean
}

export const createItem = (write: EventWriter, id: string): Item => ({
  write,
  id,
  texts: new Map(),
  thinking: undefined,
  call: undefined,
  isFreeText: false,
  isOpaque: false,
  raw: undefined,
  isFinished: false,
})

const understood = new Set(['message', 'reasoning', 'function_call', 'custom_tool_call'])

/** The item is announced; calls are worth announcing too. */
export function beginItem(item: Item, raw: JsonRecord): void {
  item.isOpaque = !understood.has(asText(raw['type']))
  if (item.call !== undefined || (raw['type'] !== 'function_call' && raw['type'] !== 'custom_tool_call')) return
  item.isFreeText = raw['type'] === 'custom_tool_call'
  const name = nameWithin(asText(raw['namespace']), asText(raw['name']))
  item.call = item.write.openToolCall(asText(raw['call_id']) || asText(raw['id']), name)
  if (item.isFreeText) item.write.delta(item.call, '{"input":"')
}

/** A piece of text. Input of a call that was not announced waits for the whole item. */
export function addText(item: Item, place: TextPosition, text: string): void {
  if (text === '' || item.isFinished || (place.kind === 'input' && item.call === undefined)) return
  const growing = textAt(item, place)
  growing.text += text
  const isEscaped = place.kind === 'input' && item.isFreeText
  item.write.delta(growing.block, isEscaped ? JSON.stringify(text).slice(1, -1) : text)
}

/** The whole text: some servers send no pieces at all. One that differs from its pieces adds nothing to them. */
export function completeText(item: Item, place: TextPosition, text: string): void {
  const told = item.texts.get(keyOf(place))?.text ?? ''
  if (text.startsWith(told)) addText(item, place, text.slice(told.length))
}

/** Whether this is one of the texts of an item, or the item itself, as it was told. */
export function isToldIn({ texts, raw }: Item, value: unknown): boolean {
  if (typeof value !== 'string') return raw !== undefined && JSON.stringify(value) === JSON.stringify(raw)
  for (const { text } of texts.values()) if (text === value) return true
  return false
}

const keyOf = ({ kind, index }: TextPosition): string => `${kind} ${index}`

function textAt(item: Item, place: TextPosition): Growing {
  const key = keyOf(place)
  const known = item.texts.get(key)
  if (known !== undefined) return known
  const growing = { block: blockFor(item, place), text: '' }
  item.texts.set(key, growing)
  return growing
}

function blockFor(item: Item, { kind }: TextPosition): number {
  if (kind === 'text' || kind === 'refusal') return item.write.open({ type: kind })
  if (kind === 'input') return item.call ?? -1
  if (item.thinking === undefined) return (item.thinking = item.write.open({ type: 'thinking' }))
  // The parts of a summary are one thought, with a blank line between them.
  item.write.delta(item.thinking, '\n\n')
  return item.thinking
}

/** The whole item: what was not told before is told now, and its blocks are closed. */
export function finishItem(item: Item, raw: JsonRecord): void {
  if (item.isFinished) return
  beginItem(item, raw)
  switch (raw['type']) {
    case 'message':
      for (const [index, part] of asRecords(raw['content']).entries()) completePart(item, index, part)
      break
    case 'reasoning':
      completeThought(item, raw)
      break
    case 'function_call':
      completeText(item, { kind: 'input', index: 0 }, asText(raw['arguments']))
      break
    case 'custom_tool_call':
      completeText(item, { kind: 'input', index: 0 }, asText(raw['input']))
      break
    default:
      // What has neither a kind nor an id would break whoever gets it.
      if (!isNamed(raw['type']) || !isNamed(raw['id'])) break
      item.raw = raw
      item.write.close(item.write.open({ type: 'opaque', dialect: 'responses', raw }))
  }
  closeItem(item)
}

function completePart(item: Item, index: number, part: JsonRecord): void {
  if (part['type'] === 'refusal') completeText(item, { kind: 'refusal', index }, asText(part['refusal']))
  else completeText(item, { kind: 'text', index }, asText(part['text']))
}

function completeThought(item: Item, raw: JsonRecord): void {
  for (const [index, part] of asRecords(raw['summary']).entries()) {
    completeText(item, { kind: 'summary', index }, asText(part['text']))
  }
  for (const [index, part] of asRecords(raw['content']).entries()) {
    completeText(item, { kind: 'reasoning', index }, asText(part['text']))
  }
  const value = asText(raw['encrypted_content'])
  if (value === '') return
  item.thinking ??= item.write.open({ type: 'thinking' })
  const id = asText(raw['id'])
  item.write.proof(item.thinking, { dialect: 'responses', value, ...(id !== '' && { id }) })
}

function closeItem(item: Item): void {
  item.isFinished = true
  if (item.isFreeText && item.call !== undefined) item.write.delta(item.call, '"}')
  const blocks = [item.thinking, item.call, ...Array.from(item.texts.values(), ({ block }) => block)]
  for (const block of new Set(blocks)) if (block !== undefined) item.write.close(block)
}
