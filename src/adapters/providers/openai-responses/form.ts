import { isNamed, type FormCheck } from '../form-check.ts'
import type { Json } from '../reading.ts'
import { listOf, recordOf, recordsOf, textOf } from '../reading.ts'

/** The ids of the items as they began, and the parts of them that have begun. */
type State = { hasBegun: boolean; readonly ids: string[]; readonly parts: Set<string> }

/** What clients of the Responses format need: items and parts that begin before their text, with an id that stays. */
export function createFormCheck(): FormCheck {
  const state: State = { hasBegun: false, ids: [], parts: new Set() }
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
  return isItem(item) && item?.['id'] === idAt(state, event)
}

/** Events that tell of no item have nothing to be held to. */
function isOfItsItem(state: State, event: Json): boolean {
  return event['output_index'] === undefined || event['item_id'] === idAt(state, event)
}

/** Undefined for an event that tells of no part. */
function placeOf(event: Json): string | undefined {
  const kind = ['content_index', 'summary_index'].find((index) => event[index] !== undefined)
  return kind && `${String(event['output_index'])} ${kind} ${String(event[kind])}`
}

function isPartStart(state: State, event: Json): boolean {
  const isNumbered = typeof (event['content_index'] ?? event['summary_index']) === 'number'
  state.parts.add(placeOf(event) ?? '')
  return isNumbered && isOfItsItem(state, event) && isPart(recordOf(event['part']))
}

function isInItsPart(state: State, event: Json): boolean {
  const place = placeOf(event)
  return isOfItsItem(state, event) && (place === undefined || state.parts.has(place))
}

/** The last event repeats every item; some leave them out altogether, and then they are filled in. */
function isEnd({ ids }: State, event: Json): boolean {
  const output = listOf(recordOf(event['response'])?.['output'])
  return output.length === 0 || (output.length === ids.length && output.every((item) => isItem(recordOf(item))))
}

const isBegun = (item: Json | undefined): boolean => isNamed(item?.['id']) && isNamed(item['type'])

function isItem(item: Json | undefined): boolean {
  if (!isBegun(item)) return false
  if (item?.['type'] === 'message') return Array.isArray(item['content']) && recordsOf(item['content']).every(isPart)
  if (item?.['type'] !== 'function_call') return true
  return [item['call_id'], item['name'], item['status']].every(isNamed) && typeof item['arguments'] === 'string'
}

const isPart = (part: Json | undefined): boolean =>
  part?.['type'] !== 'output_text' || (typeof part['text'] === 'string' && Array.isArray(part['annotations']))
