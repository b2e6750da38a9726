import { Fault } from '../../../base/fault.ts'
import type { Page, Paged } from '../../../domain/identity/store.ts'
import type { DatabaseRow, Transaction } from './database.ts'

export type Listing<R extends DatabaseRow, T> = {
  readonly table: string
  readonly columns: string
  /** Columns that must equal these values: the organization, and what narrows the list within it. */
  readonly where: Readonly<Record<string, string>>
  /** What a row must be to be shown. A cursor may name others: deleting a row must not strand whoever stands on it. */
  readonly only?: string
  /** The column that cursors name. */
  readonly id?: string
  /** The column that orders the list; it must be unique within it. */
  readonly by?: string
  readonly map: (row: R) => T
}

/** One page by key, not by offset: it costs the same at the start and at the end, and rows that come or go shift nothing. */
export async function selectPage<R extends DatabaseRow, T>(
  tx: Pick<Transaction, 'query'>,
  listing: Listing<R, T>,
  page: Page,
): Promise<Paged<T>> {
  const { table, columns, where, only, id = 'id', by = id, map } = listing
  const names = Object.keys(where)
  const params: (string | number)[] = Object.values(where)
  const conditions = names.map((name, at) => `${name} = $${at + 1}`)
  if (page.after !== undefined) {
    params.push(page.after)
    const known = [...conditions, `${id} = $${params.length}`].join(' and ')
    const [cursor] = await tx.query<{ place: string | number }>(
      `select ${by} as place from ${table} where ${known}`,
      params,
    )
    if (!cursor)
      throw new Fault('malformed', 'invalid_cursor', `after: ${page.after} names nothing in this list.`, {
        param: 'after',
      })
    params.splice(-1, 1, cursor.place)
    conditions.push(`${by} ${page.order === 'asc' ? '>' : '<'} $${params.length}`)
  }
  if (only !== undefined) conditions.push(only)
  params.push(page.limit + 1)
  const filter = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const rows = await tx.query<R>(
    `select ${columns} from ${table} ${filter} order by ${by} ${page.order} limit $${params.length}`,
    params,
  )
  return { items: rows.slice(0, page.limit).map(map), hasMore: rows.length > page.limit }
}
