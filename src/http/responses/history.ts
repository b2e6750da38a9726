import { Fault } from '../../base/fault.ts'
import type { Clock } from '../../base/clock.ts'
import {
  outputItemsOf,
  type StoredItem,
  type StoredResponse,
  type StoredResponses,
} from '../../domain/inference/stored-responses.ts'
import { listedItems } from './input-items.ts'
import type { ResponsesBody } from './schema.ts'

/** A longer conversation exceeds every model's context. */
const maxTurns = 1000

export type HistoryParts = { readonly stored: StoredResponses; readonly clock: Clock }

/** A body with its whole history, and the items that are new in it. */
export type WithHistory = {
  readonly body: ResponsesBody
  readonly ownItems: readonly StoredItem[]
  readonly previousId: string | null
}

/**
 * Replaces references by the stored items: `previous_response_id` by the items of all earlier turns, `item_reference` by
 * its item. A missing item is an error, because without its history the model would answer wrongly.
 */
export async function withHistory(body: ResponsesBody, projectId: string, parts: HistoryParts): Promise<WithHistory> {
  const { previous_response_id: previousId, ...rest } = body
  const given = itemsOf(body.input)
  const ownItems = await resolved(given, projectId, parts)
  if (!previousId)
    return {
      body: ownItems === given ? body : ({ ...rest, input: ownItems } as ResponsesBody),
      ownItems,
      previousId: null,
    }
  const earlier = await earlierItems(previousId, projectId, parts)
  return { body: { ...rest, input: [...earlier, ...ownItems] } as ResponsesBody, ownItems, previousId }
}

/** Whether the body names stored responses or items, whose texts the model then receives. */
export const namesStored = ({ previous_response_id: previousId, input }: ResponsesBody): boolean =>
  Boolean(previousId) || itemsOf(input).some(isReference)

/** A string is one user message. */
const itemsOf = (input: ResponsesBody['input']): readonly StoredItem[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : (input ?? [])

async function earlierItems(id: string, projectId: string, { stored, clock }: HistoryParts): Promise<StoredItem[]> {
  const turns: StoredItem[][] = []
  let hasDeleted = false
  let next: string | null = id
  while (next !== null && turns.length < maxTurns) {
    const turn = await stored.findTurn(projectId, next, clock.nowMs())
    if (!turn || (next === id && turn.isDeleted))
      throw unknown('previous_response_id', `Previous response with id '${next}' not found.`)
    hasDeleted ||= turn.isDeleted
    turns.push([...turn.input, ...outputItemsOf(turn.document)])
    next = turn.previousId
  }
  const items = turns.reverse().flat()
  return hasDeleted ? withoutOrphanedOutputs(items) : items
}

/** Upstreams reject the output of a tool call that is not in the conversation, because its response was deleted. */
function withoutOrphanedOutputs(items: readonly StoredItem[]): StoredItem[] {
  const calls = new Set(items.filter((item) => !isOutput(item)).map((item) => item['call_id']))
  return items.filter((item) => !isOutput(item) || calls.has(item['call_id']))
}

const isOutput = ({ type }: StoredItem): boolean => typeof type === 'string' && type.endsWith('_call_output')

/**
 * All items that the model received for a stored response, oldest first, in the form of a list. A previous turn that was
 * deleted is left out. One that has expired is left out together with the turns before it.
 */
export async function receivedItems(
  response: StoredResponse,
  projectId: string,
  { stored, clock }: HistoryParts,
): Promise<StoredItem[]> {
  const turns: StoredItem[][] = [listedItems(response)]
  let next = response.previousId
  while (next !== null && turns.length < maxTurns) {
    const turn = await stored.findTurn(projectId, next, clock.nowMs())
    if (!turn) break
    turns.push([...listedItems(turn), ...outputItemsOf(turn.document)])
    next = turn.previousId
  }
  return turns.reverse().flat()
}

/** Returns the same list if it has no references. */
async function resolved(
  items: readonly StoredItem[],
  projectId: string,
  { stored, clock }: HistoryParts,
): Promise<readonly StoredItem[]> {
  const ids = items.filter(isReference).map(({ id }) => id)
  if (ids.length === 0) return items
  const storedItems = await stored.findItems(projectId, ids, clock.nowMs())
  return items.map((item, at) => {
    if (!isReference(item)) return item
    const target = storedItems.get(item.id)
    if (!target) throw unknown(`input[${at}].id`, `Item with id '${item.id}' not found.`)
    return target
  })
}

const isReference = (item: StoredItem): item is { id: string } =>
  typeof item['id'] === 'string' &&
  (item['type'] === 'item_reference' || (item['type'] === undefined && item['role'] === undefined))

const unknown = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', message, { param })
