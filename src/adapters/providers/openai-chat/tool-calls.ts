import type { EventWriter } from '../decoding/event-writer.ts'
import { brokenAnswer } from '../failures.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asText } from '../json-values.ts'

/** A call whose pieces are still coming. It opens with its name, which may come late. */
type Slot = { readonly id: string; name: string; early: string; block: number | undefined; isFreeText: boolean }

type Piece = { readonly id: string; readonly name: string; readonly index: number | undefined }

/** Tells apart the tool calls of one choice, whose pieces may come in any mixture and not always well labelled. */
export type ToolCalls = {
  add(piece: JsonRecord): void
  /** No more pieces: whatever still lacks something is complained about. */
  finish(): void
}

export function createToolCalls(write: EventWriter): ToolCalls {
  const slots: Slot[] = []
  const byIndex = new Map<number, Slot>()

  const newSlot = (id: string, index: number | undefined): Slot => {
    const slot: Slot = { id, name: '', early: '', block: undefined, isFreeText: false }
    slots.push(slot)
    if (index !== undefined) byIndex.set(index, slot)
    return slot
  }

  const slotOf = (piece: Piece): Slot => {
    const { id, index } = piece
    const likely = id === '' ? slots.at(-1) : slots.findLast((slot) => slot.id === id)
    const known = index === undefined ? likely : byIndex.get(index)
    return known !== undefined && continues(known, piece) ? known : newSlot(id, index)
  }

  return {
    add(piece) {
      const custom = asRecord(piece['custom'])
      const told = asRecord(piece['function']) ?? custom ?? {}
      const name = asText(told['name'])
      const slot = slotOf({ id: asText(piece['id']), name, index: asCount(piece['index']) })
      slot.isFreeText ||= custom !== undefined
      slot.name ||= name
      addInput(write, slot, inputOf(told))
    },
    finish() {
      for (const slot of slots) finishSlot(write, slot)
    },
  }
}

/**
 * Several servers give all parallel calls the index 0: a new id, or a new name where there are no ids, begins a new
 * call. Others repeat id and name on each piece.
 */
function continues(slot: Slot, { id, name, index }: Piece): boolean {
  if (id !== '') return slot.id === '' || slot.id === id
  if (name === '' || slot.name === '') return true
  return index !== undefined && name === slot.name
}

/** Arguments should be text; some servers send the object itself. A tool of free text has `input`. */
function inputOf(told: JsonRecord): string {
  const input = told['arguments'] ?? told['input']
  return typeof input === 'object' && input !== null ? JSON.stringify(input) : asText(input)
}

function addInput(write: EventWriter, slot: Slot, input: string): void {
  if (slot.name === '') {
    slot.early += input
    return
  }
  if (slot.block === undefined) {
    slot.block = write.openToolCall(slot.id, slot.name)
    // Free text is told as the one text of an object: a tool's input is JSON everywhere else.
    if (slot.isFreeText) write.delta(slot.block, '{"input":"')
  }
  const text = slot.early + input
  slot.early = ''
  write.delta(slot.block, slot.isFreeText ? JSON.stringify(text).slice(1, -1) : text)
}

function finishSlot(write: EventWriter, slot: Slot): void {
  if (slot.block === undefined) throw brokenAnswer('The model’s upstream called a tool without naming it.')
  if (slot.isFreeText) write.delta(slot.block, '"}')
  write.close(slot.block)
}
