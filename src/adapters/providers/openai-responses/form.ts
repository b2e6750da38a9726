import { isNamed, type FormCheck } from '../answering/form-check.ts'
import type { Json } from '../reading.ts'
import { listOf, recordOf, textOf } from '../reading.ts'

/** The ids of the items as they began, the parts of them that have begun, and how many items are whole. */
type State = { hasBegun: boolean; readonly ids: string[]; readonly parts: Set<string>; doneCount: number }

/** What clients of the Responses format need: items and parts that begin before their text, with an id that stays. */
export function createFormCheck(): FormCheck {
  const state: State = { hasBegun: false, ids: [], parts: new Set(), doneCount: 0 }
  return {
    event(event) {
      const type = textOf(event['type'])
      if (type === 'response.created') state.hasBegun = true
      return state.hasBegun && type !== '' && (checks.get(type) ?? isInItsPart)(state, event)
    },
    document: (response) => listOf(response['output']).every((item) => isItem(recordOf(item))),
  }
}

type Check = (state: State, event: Json) => boolean

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['response.created', (_state, event) => Array.isArray(recordOf(event['response'])?.['output'])],
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

function isItemStart({ ids }: State, event: Json): boolean {
  const item = recordOf(event['item'])
  return event['output_index'] === ids.length && ids.push(textOf(item?.['id'])) > 0 && isBegun(item)
}

const idAt = ({ ids }: State, event: Json): string | undefined => ids[Number(event['output_index'])]

function isItemEnd(state: State, event: Json): boolean {
  const item = recordOf(event['item'])
  state.doneCount += 1
  return isItem(item) && item?.['id'] === idAt(state, event)
}

/** Events that tell of no item have nothing to be held to. */
function isOfItsItem(state: State, event: Json): boolean {
  return event['output_index'] === undefined || event['item_id'] === idAt(state, event)
}

/** Undefined for an event that tells of no part. Runs for every few characters of an answer. */
function placeOf({ output_index: item, content_index: content, summary_index: summary }: Json): string | undefined {
  if (content !== undefined) return `${String(item)} content ${String(content)}`
  return summary === undefined ? undefined : `${String(item)} summary ${String(summary)}`
}

function isPartStart(state: State, event: Json): boolean {
  const place = placeOf(event)
  if (place !== undefined) state.parts.add(place)
  const isNumbered = typeof (event['content_index'] ?? event['summary_index']) === 'number'
  return isNumbered && isOfItsItem(state, event) && isPart(recordOf(event['part']))
}

function isTextOfPart(state: State, event: Json): boolean {
  return isOfItsItem(state, event) && state.parts.has(placeOf(event) ?? '')
}

function isInItsPart(state: State, event: Json): boolean {
  return placeOf(event) === undefined ? isOfItsItem(state, event) : isTextOfPart(state, event)
}

/** The last event repeats every item; some leave them out altogether, and then they are filled in. */
function isEnd({ ids, doneCount }: State, event: Json): boolean {
  if (doneCount < ids.length) return false
  const output = listOf(recordOf(event['response'])?.['output'])
  return output.length === 0 || (output.length === ids.length && output.every((item) => isItem(recordOf(item))))
}

function isBegun(item: Json | undefined): boolean {
  if (!isNamed(item?.['id']) || !isNamed(item['type'])) return false
  return item['type'] !== 'message' || Array.isArray(item['content'])
}

function isItem(item: Json | undefined): boolean {
  if (!isBegun(item)) return false
  if (item?.['type'] === 'message') return listOf(item['content']).every((part) => isPart(recordOf(part)))
  if (item?.['type'] !== 'function_call') return true
  return [item['call_id'], item['name'], item['status']].every(isNamed) && typeof item['arguments'] === 'string'
}

function isPart(part: Json | undefined): boolean {
  if (part?.['type'] !== 'output_text') return isNamed(part?.['type'])
  return typeof part['text'] === 'string' && Array.isArray(part['annotations'])
}
