import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { Fault, isFault } from '../../base/fault.ts'
import { pageOrders, type Page, type Paged } from '../../domain/identity/store.ts'
import type { Validate } from '../validate.ts'
import { idText, orNull } from './fields.ts'

/** The query of every list, with the filters of this one. */
export const listQuery = <P extends TProperties>(filters: P) =>
  Type.Object(
    {
      after: Type.Optional(
        idText('The `last_id` of the previous page; this page starts after it.', 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8'),
      ),
      limit: Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Maximum number of objects per page.',
      }),
      order: Type.Enum([...pageOrders], {
        default: 'desc',
        description: 'By creation time: `desc` is newest first.',
      }),
      ...filters,
    },
    { additionalProperties: false },
  )

/** The filter by name of a list of named objects. NUL is excluded because no name contains it. */
export const nameSearch = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000]*$',
    description: 'Only objects whose name contains this text. Upper and lower case, also beyond ASCII, are the same.',
    examples: ['support'],
  }),
)

/** The response of every list, with the title of the list. */
export const listOf = <S extends TSchema>(title: string, item: S, example: object) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item, { description: 'The objects of this page.' }),
      has_more: Type.Boolean({ description: 'Whether there are more pages; get the next one with `after=last_id`.' }),
      first_id: orNull(Type.String(), 'The id of the first object; null on an empty page.'),
      last_id: orNull(Type.String(), 'The id of the last object; null on an empty page.'),
    },
    { title, examples: [example] },
  )

/** An example of a page with these items. */
export const pageExample = (...data: readonly { readonly id: string }[]) => ({
  object: 'list',
  data,
  has_more: false,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
})

type ListQuery = Static<ReturnType<typeof listQuery<{}>>>

export const pageOf = ({ after, limit, order }: ListQuery): Page => ({
  limit,
  order,
  ...(after === undefined ? {} : { after }),
})

export function presentList<T extends { readonly id: string }, P>(
  { items, hasMore }: Paged<T>,
  present: (item: T) => P,
) {
  return {
    object: 'list' as const,
    data: items.map(present),
    has_more: hasMore,
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
  }
}

/** A malformed cursor gets the same error as an unknown one: 400. Other invalid parameters get 422. */
export function withCursorError<T>(validate: Validate<T>): Validate<T> {
  return (query) => {
    try {
      return validate(query)
    } catch (error) {
      if (!isFault(error) || error.details.param !== 'after') throw error
      throw new Fault('malformed', 'invalid_cursor', error.message, { param: 'after' })
    }
  }
}
