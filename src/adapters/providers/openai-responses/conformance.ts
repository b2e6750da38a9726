import { isNonEmptyText } from '../json-values.ts'
import type { ConformanceCheck } from '../wire-format.ts'
import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asText } from '../json-values.ts'

/** The ids of the started items, the started parts of them, and the number of completed items. */
type State = { hasStarted: boolean; readonly ids: string[]; readonly parts: Set<string>; doneCount: number }

/** SDKs of the Responses format require that items and parts start before their text and keep their id. */
export function createResponsesCheck(): ConformanceCheck {
  const state: State = { hasStarted: false, ids: [], parts: new Set(), doneCount: 0 }
  return {
    event(event) {
      const type = asText(event['type'])
      if (type === 'response.created') state.hasStarted = true
      return state.hasStarted && type !== '' && (checks.get(type) ?? isInItsPart)(state, event)
    },
    document: (response) => asList(response['output']).every((item) => isItem(asRecord(item))),
  }
}

type Check = (state: State, event: JsonRecord) => boolean

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['response.created', (_state, event) => Array.isArray(asRecord(event['response'])?.['output'])],
  ['response.output_item.added', isItemStart],
  ['response.output_item.done', isItemEnd],
  ['response.content_part.added', isPartStart],
  ['response.reasoning_summary_part.added', isPartStart],
  ...['output_text.delta', 'output_text.done', 'refusal.delta', 'refusal.done', 'reasoning_text.delta'].map(
    (name): [string, Check] => [`response.${name}`, isTextOfPart],
  ),
  ['response.completed', isEnd],
  ['response.incomplete', isEnd],
])

function isItemStart({ ids }: State, event: JsonRecord): boolean {
  const item = asRecord(event['item'])
  return event['output_index'] === ids.length && ids.push(asText(item?.['id'])) > 0 && isStartedItem(item)
}

const idAt = ({ ids }: State, event: JsonRecord): string | undefined => ids[Number(event['output_index'])]

function isItemEnd(state: State, event: JsonRecord): boolean {
  const item = asRecord(event['item'])
  state.doneCount += 1
  return isItem(item) && item?.['id'] === idAt(state, event)
}

/** An event without `output_index` belongs to no item and is valid. */
function isOfItsItem(state: State, event: JsonRecord): boolean {
  return event['output_index'] === undefined || event['item_id'] === idAt(state, event)
}

/** The key of the part, or undefined if the event belongs to no part. Runs for every delta. */
function partKeyOf({
  output_index: item,
  content_index: content,
  summary_index: summary,
}: JsonRecord): string | undefined {
  if (content !== undefined) return `${String(item)} content ${String(content)}`
  return summary === undefined ? undefined : `${String(item)} summary ${String(summary)}`
}

function isPartStart(state: State, event: JsonRecord): boolean {
  const key = partKeyOf(event)
  if (key !== undefined) state.parts.add(key)
  const isNumbered = typeof (event['content_index'] ?? event['summary_index']) === 'number'
  return isNumbered && isOfItsItem(state, event) && isPart(asRecord(event['part']))
}

function isTextOfPart(state: State, event: JsonRecord): boolean {
  return isOfItsItem(state, event) && state.parts.has(partKeyOf(event) ?? '')
}

function isInItsPart(state: State, event: JsonRecord): boolean {
  return partKeyOf(event) === undefined ? isOfItsItem(state, event) : isTextOfPart(state, event)
}

/** The last event repeats all items. Some servers omit them all, and the endpoint then fills them in. */
function isEnd({ ids, doneCount }: State, event: JsonRecord): boolean {
  if (doneCount < ids.length) return false
  const output = asList(asRecord(event['response'])?.['output'])
  return output.length === 0 || (output.length === ids.length && output.every((item) => isItem(asRecord(item))))
}

function isStartedItem(item: JsonRecord | undefined): boolean {
  if (!isNonEmptyText(item?.['id']) || !isNonEmptyText(item['type'])) return false
  return item['type'] !== 'message' || Array.isArray(item['content'])
}

function isItem(item: JsonRecord | undefined): boolean {
  if (!isStartedItem(item)) return false
  if (item?.['type'] === 'message') return asList(item['content']).every((part) => isPart(asRecord(part)))
  if (item?.['type'] !== 'function_call') return true
  return [item['call_id'], item['name'], item['status']].every(isNonEmptyText) && typeof item['arguments'] === 'string'
}

function isPart(part: JsonRecord | undefined): boolean {
  if (part?.['type'] !== 'output_text') return isNonEmptyText(part?.['type'])
  return typeof part['text'] === 'string' && Array.isArray(part['annotations'])
}
