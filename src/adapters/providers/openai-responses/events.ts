import type { StopReason } from '../../../domain/inference/events.ts'
import type { EventWriter } from '../decoding/event-writer.ts'
import { upstreamFailed, faultOfErrorBody } from '../failures.ts'
import type { Decoder } from '../wire-format.ts'
import type { ReportedUsage } from '../decoding/usage.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asRecord, asRecords, asText, numberOf } from '../json-values.ts'
import type { Item, TextPosition } from './items.ts'
import { addAnnotation, addText, beginItem, completeText, createItem, finishItem, isEmittedBy } from './items.ts'

const cutReasons: ReadonlyMap<string, StopReason> = new Map([
  ['max_output_tokens', 'length'],
  ['content_filter', 'filtered'],
])

type State = {
  readonly writer: EventWriter
  readonly items: Map<number, Item>
  /** The same items by id, for events without `output_index`. */
  readonly byId: Map<string, Item>
  hasRefusal: boolean
}

/** Decodes a response in the Responses format. Only a `response.*` event ends it, never the end of an item. */
export function createResponsesDecoder(writer: EventWriter): Decoder {
  const state: State = { writer, items: new Map(), byId: new Map(), hasRefusal: false }
  return {
    event(body, name) {
      const type = asText(body['type']) || (name ?? '')
      const text = textEvents.get(type)
      if (text === undefined) steps.get(type)?.(state, body)
      else readText(state, body, text)
    },
    document(body) {
      if (!Array.isArray(body['output']) && !asRecord(body['error'])) {
        throw upstreamFailed('The model’s upstream sent a body that is not a response.')
      }
      // A whole response may omit its status.
      endResponse(state, { response: { status: 'completed', ...body } })
    },
    done() {},
    hasPendingBlock: () => state.items.values().some(({ isOpaque, isFinished }) => isOpaque && !isFinished),
    isEmitted: (value) => state.items.values().some((item) => isEmittedBy(item, value)),
  }
}

/** The kind of text in an event, the field that holds it, and whether it is the whole text or a delta. */
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
  const position: TextPosition = { kind, index: index === undefined ? 0 : (asCount(event[index]) ?? 0) }
  const item = itemOf(state, event, asText(event['item_id']))
  if (kind === 'refusal') state.hasRefusal = true
  if (isWhole) completeText(item, position, asText(event[field]))
  else addText(item, position, asText(event[field]))
}

type Step = (state: State, event: JsonRecord) => void

const steps: ReadonlyMap<string, Step> = new Map<string, Step>([
  ['response.created', ({ writer }, event) => writer.start(asText(asRecord(event['response'])?.['model']))],
  ['response.output_item.added', (state, event) => readItem(state, event, beginItem)],
  [
    'response.output_text.annotation.added',
    (state, event) =>
      addAnnotation(
        itemOf(state, event, asText(event['item_id'])),
        asCount(event['content_index']) ?? 0,
        event['annotation'],
      ),
  ],
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

/** Finds an item by `output_index`, or by id if the server sends no index. */
function itemOf({ writer, items, byId }: State, event: JsonRecord, id: string): Item {
  const index = asCount(event['output_index']) ?? (id === '' ? 0 : undefined)
  const known = index === undefined ? byId.get(id) : items.get(index)
  if (known !== undefined) return known
  const item = createItem(writer, id)
  items.set(index ?? items.size, item)
  if (id !== '') byId.set(id, item)
  return item
}

function endResponse(state: State, event: JsonRecord): void {
  const response = asRecord(event['response']) ?? {}
  const status = asText(response['status'])
  if (asRecord(response['error']) !== undefined) throw faultOfErrorBody(response)
  if (status !== 'completed' && status !== 'incomplete') {
    throw upstreamFailed('The model’s upstream did not complete its response.', new Error(`status ${status}`))
  }
  state.writer.start(asText(response['model']))
  const hasItems = state.items.size > 0
  for (const [index, raw] of asRecords(response['output']).entries()) {
    // Reasoning without earlier events would follow the text here, and agents take the last item as the answer.
    if (hasItems && raw['type'] === 'reasoning' && !state.byId.has(asText(raw['id']))) continue
    state.hasRefusal ||= asRecords(raw['content']).some((part) => part['type'] === 'refusal')
    finishItem(itemAt(state, index, asText(raw['id'])), raw)
  }
  state.writer.end({ stopReason: reasonOf(state, response), usage: readResponsesUsage(response['usage']) })
}

/** Finds an item of the final list. Its index may differ from the stream, so the id decides. */
function itemAt(state: State, index: number, id: string): Item {
  const atIndex = state.items.get(index)
  return atIndex?.id === id ? atIndex : (state.byId.get(id) ?? itemOf(state, { output_index: index }, ''))
}

function reasonOf({ hasRefusal }: State, response: JsonRecord): StopReason {
  const cut = asText(asRecord(response['incomplete_details'])?.['reason'])
  if (response['status'] === 'incomplete') return cutReasons.get(cut) ?? 'length'
  return hasRefusal ? 'refusal' : 'end'
}

function fail(_state: State, event: JsonRecord): never {
  throw faultOfErrorBody(event)
}

function readResponsesUsage(value: unknown): ReportedUsage {
  const usage = asRecord(value)
  if (usage === undefined) return {}
  const input = asRecord(usage['input_tokens_details'])
  const output = asRecord(usage['output_tokens_details'])
  const total = numberOf(usage['input_tokens'])
  const cacheReadTokens = numberOf(input?.['cached_tokens']) ?? 0
  const cacheWriteTokens = numberOf(input?.['cache_write_tokens']) ?? 0
  const cached = (asCount(cacheReadTokens) ?? 0) + (asCount(cacheWriteTokens) ?? 0)
  return {
    // The total includes the cached tokens. Some servers' numbers do not add up.
    inputTokens: total === undefined ? undefined : Math.max(Math.min(0, total), total - cached),
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: numberOf(usage['output_tokens']),
    reasoningTokens: numberOf(output?.['reasoning_tokens']),
  }
}
