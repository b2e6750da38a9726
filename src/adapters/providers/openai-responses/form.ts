import { isNamed, type FormCheck } from '../form-check.ts'
import type { Json } from '../reading.ts'
import { listOf, recordOf, recordsOf, textOf } from '../reading.ts'

/** The ids of the items as they began, and the parts of them that have begun. */
type State = { hasBegun: boolean; readonly ids: string[]; readonly parts: Set<string> }

/** What clients of the Responses format need: items and parts that begin before their text, with an id that stays. */
export function createFormCheck(): FormCheck {
  const state: State = { hasBegun: false, ids: [], parts: new Set() }
  return {
    event(event, name) {
      const type = textOf(event['type']) || (name ?? '')
      if (type === 'response.created') state.hasBegun = true
      return state.hasBegun && (checks.get(type) ?? isOfItsItem)(state, event)
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
  ['response.output_text.delta', isInItsPart],
  ['response.refusal.delta', isInItsPart],
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

const placeOf = (event: Json): string => `${String(event['output_index'])}/${String(event['content_index'])}`

function isPartStart(state: State, event: Json): boolean {
  state.parts.add(placeOf(event))
  return isOfItsItem(state, event) && isPart(recordOf(event['part']))
}

function isInItsPart(state: State, event: Json): boolean {
  return isOfItsItem(state, event) && state.parts.has(placeOf(event))
}

/** The last event repeats every item; some leave them out altogether, and then they are filled in. */
function isEnd({ ids }: State, event: Json): boolean {
  const output = listOf(recordOf(event['response'])?.['output'])
  return output.length === 0 || (output.length === ids.length && output.every((item) => isItem(recordOf(item))))
}

const isBegun = (item: Json | undefined): boolean => isNamed(item?.['id']) && isNamed(item['type'])

function isItem(item: Json | undefined): boolean {
  if (!isBegun(item)) return false
  if (item?.['type'] === 'message') return recordsOf(item['content']).every(isPart)
  if (item?.['type'] !== 'function_call') return true
  return [item['call_id'], item['name'], item['status']].every(isNamed) && typeof item['arguments'] === 'string'
}

const isPart = (part: Json | undefined): boolean =>
  part?.['type'] !== 'output_text' || (typeof part['text'] === 'string' && Array.isArray(part['annotations']))
