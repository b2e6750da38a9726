import { isNamed, type ConformanceCheck } from '../decoding/conformance-check.ts'
import type { JsonRecord } from '../json-values.ts'
import { asList, asRecord, asText } from '../json-values.ts'

/** The ids of the items as they began, the parts of them that have begun, and how many items are whole. */
type State = { hasBegun: boolean; readonly ids: string[]; readonly parts: Set<string>; doneCount: number }

/** What clients of the Responses format need: items and parts that begin before their text, with an id that stays. */
export function createResponsesCheck(): ConformanceCheck {
  const state: State = { hasBegun: false, ids: [], parts: new Set(), doneCount: 0 }
  return {
    event(event) {
      const type = asText(event['type'])
      if (type === 'response.created') state.hasBegun = true
      return state.hasBegun && type !== '' && (checks.get(type) ?? isInItsPart)(state, event)
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
  return event['output_index'] === ids.length && ids.push(asText(item?.['id'])) > 0 && isBegun(item)
}

const idAt = ({ ids }: State, event: JsonRecord): string | undefined => ids[Number(event['output_index'])]

function isItemEnd(state: State, event: JsonRecord): boolean {
  const item = asRecord(event['item'])
  state.doneCount += 1
  return isItem(item) && item?.['id'] === idAt(state, event)
}

/** Events that tell of no item have nothing to be held to. */
function isOfItsItem(state: State, event: JsonRecord): boolean {
  return event['output_index'] === undefined || event['item_id'] === idAt(state, event)
}

/** Undefined for an event that tells of no part. Runs for every few characters of an answer. */
function placeOf({
  output_index: item,
  content_index: content,
  summary_index: summary,
}: JsonRecord): string | undefined {
  if (content !== undefined) return `${String(item)} content ${String(content)}`
  return summary === undefined ? undefined : `${String(item)} summary ${String(summary)}`
}

function isPartStart(state: State, event: JsonRecord): boolean {
  const place = placeOf(event)
  if (place !== undefined) state.parts.add(place)
  const isNumbered = typeof (event['content_index'] ?? event['summary_index']) === 'number'
  return isNumbered && isOfItsItem(state, event) && isPart(asRecord(event['part']))
}

function isTextOfPart(state: State, event: JsonRecord): boolean {
  return isOfItsItem(state, event) && state.parts.has(placeOf(event) ?? '')
}

function isInItsPart(state: State, event: JsonRecord): boolean {
  return placeOf(event) === undefined ? isOfItsItem(state, event) : isTextOfPart(state, event)
}

/** The last event repeats every item; some leave them out altogether, and then they are filled in. */
function isEnd({ ids, doneCount }: State, event: JsonRecord): boolean {
  if (doneCount < ids.length) return false
  const output = asList(asRecord(event['response'])?.['output'])
  return output.length === 0 || (output.length === ids.length && output.every((item) => isItem(asRecord(item))))
}

function isBegun(item: JsonRecord | undefined): boolean {
  if (!isNamed(item?.['id']) || !isNamed(item['type'])) return false
  return item['type'] !== 'message' || Array.isArray(item['content'])
}

function isItem(item: JsonRecord | undefined): boolean {
  if (!isBegun(item)) return false
  if (item?.['type'] === 'message') return asList(item['content']).every((part) => isPart(asRecord(part)))
  if (item?.['type'] !== 'function_call') return true
  return [item['call_id'], item['name'], item['status']].every(isNamed) && typeof item['arguments'] === 'string'
}

function isPart(part: JsonRecord | undefined): boolean {
  if (part?.['type'] !== 'output_text') return isNamed(part?.['type'])
  return typeof part['text'] === 'string' && Array.isArray(part['annotations'])
}
