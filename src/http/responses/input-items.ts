import Type, { type Static } from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { StoredItem, StoredResponse } from '../../domain/inference/stored-responses.ts'
import { flag } from '../described.ts'

const exampleItemId = 'msg_01h455vb4pex5vsknk084sn02qin00'

/** The query of the list. Clients send further parameters, such as `include`. */
export const InputItemsQuery = Type.Object({
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only items after this one.', examples: [exampleItemId] }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Maximum number of items per page.' }),
  order: Type.Enum(['asc', 'desc'], { default: 'desc', description: '`desc` starts with the last item.' }),
})

const InputItem = Type.Object(
  {
    id: Type.String({ description: 'The id of the item.', examples: [exampleItemId] }),
    type: Type.String({ description: 'The type of the item.', examples: ['message'] }),
  },
  { additionalProperties: true, title: 'ResponseInputItem', examples: [{ id: exampleItemId, type: 'message' }] },
)

const itemId = Type.Union([Type.String(), Type.Null()], { examples: [exampleItemId] })

export const InputItemList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(InputItem, {
      description: 'The input items, each with an `id`.',
    }),
    first_id: Type.Union(itemId.anyOf, { description: 'The first item of the page; null if it is empty.' }),
    last_id: Type.Union(itemId.anyOf, { description: 'The last item of the page; null if it is empty.' }),
    has_more: flag('Whether there are more items.'),
  },
  {
    title: 'ResponseInputItemList',
    examples: [
      {
        object: 'list',
        data: [
          {
            id: exampleItemId,
            type: 'message',
            status: 'completed',
            role: 'user',
            content: [{ type: 'input_text', text: 'Hello' }],
          },
        ],
        first_id: exampleItemId,
        last_id: exampleItemId,
        has_more: false,
      },
    ],
  },
)

/** One page of the items that the model received: those of all turns, oldest first, in the order of the query. */
export function inputItemPage(items: readonly StoredItem[], { after, limit, order }: Static<typeof InputItemsQuery>) {
  const ordered = order === 'asc' ? items : items.toReversed()
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  if (after !== undefined && start === 0)
    throw new Fault('malformed', 'invalid_cursor', `after: this response has no input item ${after}.`, {
      param: 'after',
    })
  const data = ordered.slice(start, start + limit)
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: start + limit < ordered.length,
  }
}

/** The input items of a response in the form of a list: each has an id that stays the same, and messages have parts. */
export const listedItems = ({ id, input }: Pick<StoredResponse, 'id' | 'input'>): StoredItem[] =>
  input.map((item, at) => ({ id: itemIdOf(item, id, at), ...listed(item) }))

const idPrefixes: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' }

function itemIdOf({ type = 'message' }: StoredItem, responseId: string, at: number): string {
  const own = responseId.slice(responseId.indexOf('_') + 1)
  return `${idPrefixes[String(type)] ?? 'item'}_${own}in${at.toString(36).padStart(2, '0')}`
}

function listed(item: StoredItem): StoredItem {
  if (item['type'] !== undefined && item['type'] !== 'message') return item
  const { content, role } = item
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const part = { type, text: content, ...(role === 'assistant' && { annotations: [] }) }
  return { status: 'completed', ...item, type: 'message', content: typeof content === 'string' ? [part] : content }
}
