import { Fault } from '../../../base/fault.ts'
import type { Page, Paged } from '../../../domain/identity/store.ts'
import type { DatabaseRow, Transaction } from './database.ts'

export type Listing<R extends DatabaseRow, T> = {
  readonly table: string
  readonly columns: string
  /** Columns that must equal these values: the organization, and further filters. */
  readonly where: Readonly<Record<string, string>>
  /** A condition for rows in the list. A cursor may also name other rows, so that deleting a row does not invalidate a cursor on it. */
  readonly only?: string
  /** The column that cursors refer to. */
  readonly id?: string
  /** The column that orders the list; unique within it. */
  readonly by?: string
  readonly map: (row: R) => T
}

/** Keyset pagination: every page costs the same, and inserted or deleted rows do not shift the pages. */
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
    const isCursor = [...conditions, `${id} = $${params.length}`].join(' and ')
    const [cursor] = await tx.query<{ position: string | number }>(
      `select ${by} as position from ${table} where ${isCursor}`,
      params,
    )
    if (!cursor)
      throw new Fault('malformed', 'invalid_cursor', `after: ${page.after} is not in this list.`, {
        param: 'after',
      })
    params.splice(-1, 1, cursor.position)
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
