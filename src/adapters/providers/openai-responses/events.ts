import type { StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { brokenAnswer, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../http-provider.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText } from '../json-values.ts'
import type { Item, TextPosition } from './items.ts'
import { addText, beginItem, completeText, createItem, finishItem, isToldIn } from './items.ts'
import { readResponsesUsage } from './usage.ts'

const cutReasons: ReadonlyMap<string, StopReason> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'filtered'],
])

type State = {
  readonly write: EventWriter
  readonly items: Map<number, Item>
  /** The same items, for events that do not say which number theirs has. */
  readonly byId: Map<string, Item>
  hasRefusal: boolean
}

/** The answer of a Responses upstream in our words. Only the whole response ends it, never the end of an item. */
export function createResponsesDecoder(write: EventWriter): Decoder {
  const state: State = { write, items: new Map(), byId: new Map(), hasRefusal: false }
  return {
    event(body, name) {
      const type = asText(body['type']) || (name ?? '')
      const text = textEvents.get(type)
      if (text === undefined) steps.get(type)?.(state, body)
      else readText(state, body, text)
    },
    document(body) {
      if (!Array.isArray(body['output']) && !asRecord(body['error'])) {
        throw brokenAnswer('The model’s upstream sent something that is no response.')
      }
      // It is whole by itself and need not say so.
      endResponse(state, { response: { status: 'completed', ...body } })
    },
    done() {},
    isCollecting: () => state.items.values().some(({ isOpaque, isFinished }) => isOpaque && !isFinished),
    isTold: (value) => state.items.values().some((item) => isToldIn(item, value)),
  }
}

/** Which text an event is about, which field has it, and whether it is a piece or the whole. */
type TextEvent = {
  readonly kind: TextPosition['kind']
  readonly index?: string
  readonly field: string
  readonly isWhole?: true
}

const textEvents: ReadonlyMap<string, TextEvent> = new Map<string, TextEvent>([
  ['response.output_text.delta', { kind: 'text', index: 'content_index', field: 'delta' }],
  ['response.output_text.done', { kind: 'text', index: 'content_index', field: 'text', isWhole: true }],
  ['response.refusal.delta', { kind: 'refusal', index: 'content_index', field: 'delta' }],
  ['response.refusal.done', { kind: 'refusal', index: 'content_index', field: 'refusal', isWhole: true }],
  ['response.reasoning_summary_text.delta', { kind: 'summary', index: 'summary_index', field: 'delta' }],
  ['response.reasoning_summary_text.done', { kind: 'summary', index: 'summary_index', field: 'text', isWhole: true }],
  ['response.reasoning_text.delta', { kind: 'reasoning', index: 'content_index', field: 'delta' }],
  ['response.reasoning_text.done', { kind: 'reasoning', index: 'content_index', field: 'text', isWhole: true }],
  ['response.function_call_arguments.delta', { kind: 'input', field: 'delta' }],
  ['response.function_call_arguments.done', { kind: 'input', field: 'arguments', isWhole: true }],
  ['response.custom_tool_call_input.delta', { kind: 'input', field: 'delta' }],
  ['response.custom_tool_call_input.done', { kind: 'input', field: 'input', isWhole: true }],
])

function readText(state: State, event: JsonRecord, { kind, index, field, isWhole }: TextEvent): void {
  const place: TextPosition = { kind, index: index === undefined ? 0 : (asCount(event[index]) ?? 0) }
  const item = itemOf(state, event, asText(event['item_id']))
  if (kind === 'refusal') state.hasRefusal = true
  if (isWhole) completeText(item, place, asText(event[field]))
  else addText(item, place, asText(event[field]))
}

type Step = (state: State, event: JsonRecord) => void

const steps: ReadonlyMap<string, Step> = new Map<string, Step>([
  ['response.created', ({ write }, event) => write.start(asText(asRecord(event['response'])?.['model']))],
  ['response.output_item.added', (state, event) => readItem(state, event, beginItem)],
  ['response.output_item.done', (state, event) => readItem(state, event, finishItem)],
  ['response.completed', endResponse],
  ['response.incomplete', endResponse],
  ['response.failed', endResponse],
  ['response.cancelled', endResponse],
  ['error', fail],
])

function readItem(state: State, event: JsonRecord, read: (item: Item, raw: JsonRecord) => void): void {
  const raw = asRecord(event['item'])
  if (raw !== undefined) read(itemOf(state, event, asText(raw['id'])), raw)
}

/** Items are told apart by their number; where a server sends none, by their id. */
function itemOf({ write, items, byId }: State, event: JsonRecord, id: string): Item {
  const index = asCount(event['output_index']) ?? (id === '' ? 0 : undefined)
  const known = index === undefined ? byId.get(id) : items.get(index)
  if (known !== undefined) return known
  const item = createItem(write, id)
  items.set(index ?? items.size, item)
  if (id !== '') byId.set(id, item)
  return item
}

function endResponse(state: State, event: JsonRecord): void {
  const response = asRecord(event['response']) ?? {}
  const status = asText(response['status'])
  if (asRecord(response['error']) !== undefined) throw faultOfErrorBody(response)
  if (status !== 'completed' && status !== 'incomplete') {
    throw brokenAnswer('The model’s upstream did not complete its answer.', new Error(`status ${status}`))
  }
  state.write.start(asText(response['model']))
  const isTold = state.items.size > 0
  for (const [index, raw] of asRecords(response['output']).entries()) {
    // A thought that nothing told of would now come after the words, and agents take what comes last for the answer.
    if (isTold && raw['type'] === 'reasoning' && !state.byId.has(asText(raw['id']))) continue
    state.hasRefusal ||= asRecords(raw['content']).some((part) => part['type'] === 'refusal')
    finishItem(itemAt(state, index, asText(raw['id'])), raw)
  }
  state.write.end({ stopReason: reasonOf(state, response), usage: readResponsesUsage(response['usage']) })
}

/** An item of the whole list. Where items were left out of it, or numbered in their own way, its place is another. */
function itemAt(state: State, index: number, id: string): Item {
  const there = state.items.get(index)
  return there?.id === id ? there : (state.byId.get(id) ?? itemOf(state, { output_index: index }, ''))
}

function reasonOf({ hasRefusal }: State, response: JsonRecord): StopReason {
  const cut = asText(asRecord(response['incomplete_details'])?.['reason'])
  if (response['status'] === 'incomplete') return cutReasons.get(cut) ?? 'length'
  return hasRefusal ? 'refusal' : 'end'
}

function fail(_state: State, event: JsonRecord): never {
  throw faultOfErrorBody(event)
}
