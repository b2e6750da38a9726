import type { InferenceEnd, RawFrame } from '../../domain/inference/events.ts'
import { creditFields } from '../inference/writing/credit-fields.ts'
import {
  frameObject,
  frameType,
  recordAt,
  sameFrame,
  sseFrame,
  type AnswerContext,
} from '../inference/writing/stream-writer.ts'
import { vendorUsage } from '../inference/writing/vendor-usage.ts'
import type { Output, Sequence, ShownBlock } from './blocks.ts'

type Part = ShownBlock['part']
type Fields = Record<string, unknown>

/** Passes an upstream's events through with the gateway's id and the caller's model name. Holds the ending back until the cost is known. */
export type ResponsesPassthrough = {
  frame(frame: RawFrame): string
  /** The block that the upstream opened for this part, as the caller sees it. */
  blockFor(part: Part): ShownBlock | undefined
  /** The same for text whose message the upstream has started without a part. */
  messageFor(part: Part): ShownBlock | undefined
  /** Called after each chunk, because an item that is done without an event will never have one. */
  dropDone(): void
  /** The upstream's own final response, if the answer still ends that way. */
  ending(gatewayResponse: Fields, end: InferenceEnd, isPassthrough: boolean): Fields | undefined
}

type Position = Pick<ShownBlock, 'itemId' | 'outputIndex' | 'contentIndex'>

/** A block that the upstream has opened and that no event is assigned to yet. */
type UnclaimedBlock = Position &
  Pick<ShownBlock, 'isFreeText'> & {
    readonly type: Part['type']
    hasSummary: boolean
  }

type Items = {
  readonly output: Output
  unclaimed: UnclaimedBlock[]
  readonly blocks: Map<string, ShownBlock>
  /** Messages without a part, by id. */
  readonly empty: Map<string, Position>
}

/** `output` and `sequence` are shared with the writer, so that it can continue after the upstream's frames. */
export function createResponsesPassthrough(
  { id, model, echo }: AnswerContext,
  sequence: Sequence,
  output: Output,
): ResponsesPassthrough {
  const items: Items = { output, unclaimed: [], blocks: new Map(), empty: new Map() }
  let last: Fields | undefined

  const renamed = (type: string, event: Fields): string => {
    const response = { ...recordAt(event, 'response'), id, model, ...echo }
    return sseFrame(type, JSON.stringify({ ...event, response }))
  }

  return {
    frame(frame) {
      const type = frameType(frame)
      if (type === 'response.failed') return '' // the provider throws it as a Fault
      if (!type.startsWith('response.')) return '' // the provider throws errors too, and unknown events break some clients
      if (endings.has(type)) {
        last = recordAt(frameObject(frame.data), 'response')
        return ''
      }
      sequence.next += 1
      if (beginnings.has(type)) return renamed(type, frameObject(frame.data))
      if (structural.has(type)) trackFrame(type, frameObject(frame.data), items)
      return sameFrame(frame)
    },
    blockFor(part) {
      const at = items.unclaimed.findIndex((candidate) => candidate.type === part.type)
      const [candidate] = at === -1 ? [] : items.unclaimed.splice(at, 1)
      if (candidate === undefined) return undefined
      const { itemId, outputIndex, contentIndex, isFreeText, hasSummary } = candidate
      const block: ShownBlock = { part, itemId, outputIndex, contentIndex, isFreeText, text: '', hasSummary }
      items.blocks.set(itemId, block)
      return block
    },
    messageFor(part) {
      const [message] = part.type === 'text' || part.type === 'refusal' ? items.empty.values() : []
      if (message === undefined || output.done.has(message.outputIndex)) return undefined
      items.empty.delete(message.itemId)
      return { part, ...message, isFreeText: false, text: '', hasSummary: false }
    },
    dropDone() {
      items.unclaimed = items.unclaimed.filter(({ outputIndex }) => !output.done.has(outputIndex))
    },
    ending(gatewayResponse, end, isPassthrough) {
      if (last === undefined || !(isPassthrough || last['status'] === gatewayResponse['status'])) return undefined
      // Some upstreams leave the items out of the last event after streaming them.
      const listed =
        Array.isArray(last['output']) && last['output'].length > 0 ? last['output'] : gatewayResponse['output']
      const counts = recordAt(gatewayResponse, 'usage')
      const usage = vendorUsage({ ...counts, ...recordAt(last, 'usage') }, counts, end.usage)
      return { ...last, id, model, output: listed, usage, ...echo, ...creditFields(end) }
    },
  }
}

const beginnings = new Set(['response.created', 'response.in_progress', 'response.queued'])
const endings = new Set(['response.completed', 'response.incomplete'])
const structural = new Set([
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
])

const partTypes: Readonly<Record<string, Part['type']>> = {
  function_call: 'tool-call',
  custom_tool_call: 'tool-call',
  reasoning: 'thinking',
  output_text: 'text',
  refusal: 'refusal',
}

function trackFrame(type: string, event: Fields, items: Items): void {
  const outputIndex = numberAt(event, 'output_index')
  const item = recordAt(event, 'item')
  switch (type) {
    case 'response.output_item.added':
      items.output.items[outputIndex] = item
      addItem(items, item, { itemId: String(item['id']), outputIndex, contentIndex: 0 })
      return
    case 'response.content_part.added': {
      const position = { itemId: String(event['item_id']), outputIndex, contentIndex: numberAt(event, 'content_index') }
      items.empty.delete(position.itemId)
      addUnclaimed(items, recordAt(event, 'part'), position)
      return
    }
    case 'response.output_item.done':
      items.output.items[outputIndex] = item
      items.output.done.add(outputIndex)
      return
    default:
      trackSummary(items, event, type.endsWith('.added'))
  }
}

function addItem(items: Items, item: Fields, position: Position): void {
  if (item['type'] === 'message') items.empty.set(position.itemId, position)
  else addUnclaimed(items, item, position)
}

function addUnclaimed({ unclaimed }: Items, { type }: Fields, position: Position): void {
  const partType = partTypes[String(type)]
  if (partType !== undefined)
    unclaimed.push({ ...position, type: partType, isFreeText: type === 'custom_tool_call', hasSummary: false })
}

/** Reasoning has summary parts, one of which may be open when a check stops the stream. */
function trackSummary({ unclaimed, blocks }: Items, event: Fields, isOpen: boolean): void {
  const itemId = String(event['item_id'])
  const holder = blocks.get(itemId) ?? unclaimed.find((candidate) => candidate.itemId === itemId)
  if (holder === undefined) return
  holder.contentIndex = numberAt(event, 'summary_index')
  holder.hasSummary = isOpen
}

function numberAt(holder: Fields, key: string): number {
  const value = holder[key]
  return typeof value === 'number' ? value : 0
}
