import assert from 'node:assert/strict'
import { readFrames } from '../../support/sse-server.ts'

/** An event with the type that clients assume. The checks verify the fields that they use. */
type Event = Readonly<
  Record<'type' | 'item_id' | 'delta' | 'text' | 'refusal' | 'arguments' | 'code' | 'message', string>
> & {
  readonly sequence_number: number
  readonly output_index: number
  readonly item: OutputItem
  readonly response: Response
  readonly error: { readonly code: string; readonly message: string }
}

type OutputItem = Readonly<Record<'id' | 'type' | 'status' | 'arguments' | 'call_id' | 'name', string>> & {
  readonly content: readonly {
    readonly type: string
    readonly text?: string
    readonly refusal?: string
    readonly annotations?: unknown[]
  }[]
}

type Response = Readonly<Record<'id' | 'model' | 'object' | 'status', string>> & {
  readonly created_at: number
  readonly output: readonly OutputItem[]
  readonly usage: { readonly output_tokens_details: { readonly reasoning_tokens: number } }
  readonly estimated_credits_used: number
}

type Item = {
  readonly id: string
  readonly type: string
  hasPart: boolean
  text: string
  isPartDone: boolean
  done?: OutputItem
}

/** The events that fill an item, and the field of its complete text. */
const fillings: Readonly<
  Record<string, readonly [part: string, delta: string, done: string, key: 'text' | 'refusal' | 'arguments']>
> = {
  output_text: ['response.content_part', 'response.output_text.delta', 'response.output_text.done', 'text'],
  refusal: ['response.content_part', 'response.refusal.delta', 'response.refusal.done', 'refusal'],
  reasoning: [
    'response.reasoning_summary_part',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'text',
  ],
  function_call: ['', 'response.function_call_arguments.delta', 'response.function_call_arguments.done', 'arguments'],
}

/** The stream rules that every known client of the Responses API relies on, written independently of the stream writer. */
export function checkResponsesStream(text: string, how: 'complete' | 'failed'): void {
  const events = readFrames(text).map(({ event, data }, at) => {
    const json: Event = JSON.parse(data)
    assert.equal(json.type, event)
    assert.equal(json.sequence_number, at, 'events are numbered from 0')
    return json
  })
  for (const event of events) if ('response' in event) checkResponse(event)
  if (how === 'failed') return checkFailure(events)
  const last = events.pop()
  assert.ok(last?.type === 'response.completed' || last?.type === 'response.incomplete')
  assert.deepEqual(last.response.output, checkItems(events), 'the last event repeats every item')
  assert.equal(typeof last.response.usage.output_tokens_details.reasoning_tokens, 'number')
  assert.equal(typeof last.response.estimated_credits_used, 'number')
}

function checkResponse({ type, response }: Event): void {
  assert.deepEqual([response.id, response.model, response.object], ['responses_answer', 'default-model', 'response'])
  assert.equal(typeof response.created_at, 'number')
  const status = type.replace('response.', '').replace('created', 'in_progress')
  assert.equal(response.status, status)
}

function checkFailure(events: readonly Event[]): void {
  const at = events.findIndex((event) => event.type === 'error')
  const failure = events[at]
  assert.ok(failure)
  assert.deepEqual([failure.code, failure.message], [failure.error.code, failure.error.message], 'said flat and nested')
  assert.deepEqual(
    events.slice(at + 1).map((event) => event.type),
    at === 0 ? [] : ['response.failed'],
  )
  if (at > 0) checkItems(events.slice(0, at), 'may be open')
}

function checkItems([created, inProgress, ...rest]: readonly Event[], ending?: 'may be open'): OutputItem[] {
  assert.deepEqual([created?.type, inProgress?.type], ['response.created', 'response.in_progress'])
  const items: Item[] = []
  for (const event of rest) checkEvent(items, event)
  if (ending === undefined) for (const item of items) assert.ok(item.done, 'every item is done')
  return items.flatMap((item) => item.done ?? [])
}

function checkEvent(items: Item[], event: Event): void {
  if (event.type === 'response.output_item.added') {
    assert.equal(event.output_index, items.length, 'indexes have no gaps')
    assert.ok(event.item.id && !items.some((item) => item.id === event.item.id), 'ids are unique')
    items.push({ id: event.item.id, type: event.item.type, hasPart: false, text: '', isPartDone: false })
    return
  }
  const item = items[event.output_index]
  assert.ok(item && !item.done, 'an item must be open')
  if (event.type === 'response.output_item.done') return checkDone(item, event.item)
  assert.equal(event.item_id, item.id, 'an item keeps its id')
  if (event.type === 'response.output_text.annotation.added') {
    assert.ok(item.type === 'message' && item.hasPart && !item.isPartDone, 'an annotation needs an open part')
    return
  }
  checkFilling(item, event)
}

function checkFilling(item: Item, event: Event): void {
  const kinds = item.type === 'message' ? ['output_text', 'refusal'] : [item.type]
  const filling = kinds
    .map((kind) => fillings[kind])
    .find((each) => each?.some((name) => name !== '' && event.type.startsWith(name)))
  assert.ok(filling, `${event.type} does not belong to ${item.type}`)
  const [part, delta, done, key] = filling
  if (event.type === `${part}.added`) {
    assert.equal(item.hasPart, false)
    item.hasPart = true
  } else if (event.type === delta) {
    assert.ok(item.hasPart || part === '', 'a delta needs its part')
    item.text += event.delta
  } else if (event.type === done) {
    assert.equal(event[key], item.text)
  } else {
    assert.equal(event.type, `${part}.done`)
    item.isPartDone = true
  }
}

function checkDone(item: Item, done: OutputItem): void {
  assert.deepEqual([done.id, done.type], [item.id, item.type])
  if (item.hasPart) assert.ok(item.isPartDone, 'a part is done before its item')
  if (item.type === 'function_call') {
    assert.deepEqual([done.arguments, done.status], [item.text, 'completed'])
    assert.ok(done.call_id && done.name)
  }
  if (item.type === 'message') {
    const [content] = done.content
    assert.equal(content?.text ?? content?.refusal, item.text)
    if (content?.type === 'output_text') assert.ok(Array.isArray(content.annotations))
  }
  item.done = done
}
