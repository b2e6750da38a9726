import type { InferenceEnd, OriginalFrame } from '../../domain/inference/events.ts'
import { creditFields } from '../credit-fields.ts'
import { frameObject, frameType, recordAt, sameFrame, sseFrame, type AnswerContext } from '../stream-writer.ts'
import type { Sequence, ShownBlock } from './blocks.ts'

type Part = ShownBlock['part']
type Fields = Record<string, unknown>

/** Passes on an upstream's events under our id and the caller's name for the model, and keeps the ending back. */
export type Forwarding = {
  frame(frame: OriginalFrame): string
  /** The block that the upstream opened for this part, as it is known to the caller. */
  blockFor(part: Part): ShownBlock | undefined
  /** The upstream's own last response, where it is still how the answer ends. */
  ending(ours: Fields, end: InferenceEnd, isForwarded: boolean): Fields | undefined
}

type Slot = {
  readonly type: Part['type']
  readonly itemId: string
  readonly outputIndex: number
  readonly contentIndex: number
}

/** `output` and `sequence` are shared with the writer, so that either can go on where the other stopped. */
export function createForwarding({ id, model }: AnswerContext, sequence: Sequence, output: unknown[]): Forwarding {
  const slots: Slot[] = []
  let last: Fields | undefined

  const renamed = (type: string, event: Fields): string => {
    const response = { ...recordAt(event, 'response'), id, model }
    return sseFrame(type, JSON.stringify({ ...event, response }))
  }

  return {
    frame(frame) {
      const type = frameType(frame)
      if (type === 'error' || type === 'response.failed') return '' // arrive as a thrown Fault
      if (endings.has(type)) {
        last = recordAt(frameObject(frame.data), 'response')
        return ''
      }
      sequence.next += 1
      if (beginnings.has(type)) return renamed(type, frameObject(frame.data))
      if (structural.has(type)) note(type, frameObject(frame.data), { slots, output })
      return sameFrame(frame)
    },
    blockFor(part) {
      const at = slots.findIndex((slot) => slot.type === part.type)
      const [slot] = at === -1 ? [] : slots.splice(at, 1)
      if (slot === undefined) return undefined
      const { itemId, outputIndex, contentIndex } = slot
      return { part, itemId, outputIndex, contentIndex, text: '', hasSummary: false }
    },
    ending(ours, end, isForwarded) {
      if (last === undefined || !(isForwarded || last['status'] === ours['status'])) return undefined
      // Some upstreams stream their items and then leave them out of the last event.
      const items = Array.isArray(last['output']) && last['output'].length > 0 ? last['output'] : ours['output']
      const usage = { ...recordAt(ours, 'usage'), ...recordAt(last, 'usage') }
      return { ...last, id, model, output: items, usage, ...creditFields(end) }
    },
  }
}

const beginnings = new Set(['response.created', 'response.in_progress', 'response.queued'])
const endings = new Set(['response.completed', 'response.incomplete'])
const structural = new Set(['response.output_item.added', 'response.content_part.added', 'response.output_item.done'])

const slotTypes: Readonly<Record<string, Part['type']>> = {
  function_call: 'tool-call',
  reasoning: 'thinking',
  output_text: 'text',
  refusal: 'refusal',
}

function note(type: string, event: Fields, { slots, output }: { slots: Slot[]; output: unknown[] }): void {
  const outputIndex = numberAt(event, 'output_index')
  const thing = recordAt(event, type === 'response.content_part.added' ? 'part' : 'item')
  if (type !== 'response.content_part.added') output[outputIndex] = thing
  const slotType = slotTypes[String(thing['type'])]
  if (type === 'response.output_item.done' || slotType === undefined) return
  const itemId = String(event['item_id'] ?? thing['id'])
  slots.push({ type: slotType, itemId, outputIndex, contentIndex: numberAt(event, 'content_index') })
}

function numberAt(holder: Fields, key: string): number {
  const value = holder[key]
  return typeof value === 'number' ? value : 0
}
