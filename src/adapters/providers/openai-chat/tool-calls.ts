import type { EventWriter } from '../decoding/event-writer.ts'
import { upstreamFailed } from '../failures.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asText } from '../json-values.ts'
import { createJsonEnd, type JsonEnd } from './json-end.ts'

/** A call that is being received. Its block opens when the name arrives; `early` holds input that arrived before. */
type Slot = {
  readonly id: string
  name: string
  early: string
  block: number | undefined
  isFreeText: boolean
  /** The whole input so far, to find out whether it is complete. */
  input: string
  readonly end: JsonEnd
  isClosed: boolean
}

type ToolCallDelta = { readonly id: string; readonly name: string; readonly index: number | undefined }

/** Assembles the tool calls of one choice. Their deltas may be interleaved, and some servers omit the index or the id. */
export type ToolCallAssembler = {
  add(delta: JsonRecord): void
  /** A delta of another kind follows. */
  interrupt(): void
  /** No more deltas. Throws if a call has no name. */
  finish(): void
}

export function createToolCallAssembler(writer: EventWriter): ToolCallAssembler {
  const slots: Slot[] = []
  const byIndex = new Map<number, Slot>()
  let last: Slot | undefined

  const newSlot = (id: string, index: number | undefined): Slot => {
    const call = { id, name: '', early: '', block: undefined, isFreeText: false }
    const slot: Slot = { ...call, input: '', end: createJsonEnd(), isClosed: false }
    slots.push(slot)
    if (index !== undefined) byIndex.set(index, slot)
    return slot
  }

  const slotOf = (delta: ToolCallDelta): Slot => {
    const { id, index } = delta
    const likely = id === '' ? slots.at(-1) : slots.findLast((slot) => slot.id === id)
    const known = index === undefined ? likely : byIndex.get(index)
    return known !== undefined && belongsTo(known, delta) ? known : newSlot(id, index)
  }

  return {
    add(delta) {
      const custom = asRecord(delta['custom'])
      const payload = asRecord(delta['function']) ?? custom ?? {}
      const name = asText(payload['name'])
      const slot = slotOf({ id: asText(delta['id']), name, index: asCount(delta['index']) })
      slot.isFreeText ||= custom !== undefined
      slot.name ||= name
      if (last !== undefined && last !== slot) closeComplete(writer, last)
      last = slot
      addInput(writer, slot, inputOf(payload))
    },
    interrupt() {
      if (last !== undefined) closeComplete(writer, last)
    },
    finish() {
      for (const slot of slots) finishSlot(writer, slot)
    },
  }
}

/**
 * Some servers send the index 0 for all parallel calls. A new id, or a new name if there are no ids, then starts a new call.
 * Other servers repeat id and name in each delta.
 */
function belongsTo(slot: Slot, { id, name, index }: ToolCallDelta): boolean {
  if (id !== '') return slot.id === '' || slot.id === id
  if (name === '' || slot.name === '') return true
  return index !== undefined && name === slot.name
}

/** Arguments are JSON text, but some servers send the object itself. Free-text tools have `input` instead. */
function inputOf(payload: JsonRecord): string {
  const input = payload['arguments'] ?? payload['input']
  return typeof input === 'object' && input !== null ? JSON.stringify(input) : asText(input)
}

/**
 * This format does not report the end of a call. A call whose input is a complete object is over when another call continues,
 * so that calls which are sent one after the other do not overlap.
 */
function closeComplete(writer: EventWriter, slot: Slot): void {
  if (slot.block === undefined || slot.isClosed || slot.isFreeText || !slot.end.isAt(slot.input)) return
  slot.isClosed = true
  writer.close(slot.block)
}

function addInput(writer: EventWriter, slot: Slot, input: string): void {
  if (slot.isClosed) {
    if (input.trim() === '') return
    throw upstreamFailed('The model’s upstream continued a tool call after its complete input.')
  }
  slot.input += input
  if (slot.name === '') {
    slot.early += input
    return
  }
  if (slot.block === undefined) {
    slot.block = writer.openToolCall(slot.id, slot.name)
    // Events carry tool input as JSON, so free text becomes the only property of an object.
    if (slot.isFreeText) writer.delta(slot.block, '{"input":"')
  }
  const text = slot.early + input
  slot.early = ''
  writer.delta(slot.block, slot.isFreeText ? JSON.stringify(text).slice(1, -1) : text)
}

function finishSlot(writer: EventWriter, slot: Slot): void {
  if (slot.isClosed) return
  if (slot.block === undefined) throw upstreamFailed('The model’s upstream sent a tool call without a name.')
  if (slot.isFreeText) writer.delta(slot.block, '"}')
  writer.close(slot.block)
}
