import { Fault } from '../../../base/fault.ts'
import type { Page, Paged } from '../../../domain/identity/store.ts'
import type { Row, Transaction } from './database.ts'

export type Listing<R extends Row, T> = {
  readonly table: string
  readonly columns: string
  /** Columns that must equal these values: the organization, and what narrows the list within it. */
  readonly where: Readonly<Record<string, string>>
  readonly map: (row: R) => T
}

/** One page by key, not by offset: it costs the same at the start and at the end, and rows that come or go shift nothing. */
export async function selectPage<R extends Row, T>(
  tx: Pick<Transaction, 'query'>,
  listing: Listing<R, T>,
  page: Page,
): Promise<Paged<T>> {
  const { table, columns, where, map } = listing
  const names = Object.keys(where)
  const params: (string | number)[] = Object.values(where)
  const conditions = names.map((name, at) => `${name} = $${at + 1}`)
  if (page.after !== undefined) {
    params.push(page.after)
    const known = [...conditions, `id = $${params.length}`].join(' and ')
    const [cursor] = await tx.query(`select id from ${table} where ${known}`, params)
    if (!cursor)
      throw new Fault('malformed', 'invalid_cursor', `after: ${page.after} names nothing in this list.`, {
        param: 'after',
      })
    conditions.push(`id ${page.order === 'asc' ? '>' : '<'} $${params.length}`)
  }
  params.push(page.limit + 1)
  const filter = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const rows = await tx.query<R>(
    `select ${columns} from ${table} ${filter} order by id ${page.order} limit $${params.length}`,
    params,
  )
  return { items: rows.slice(0, page.limit).map(map), hasMore: rows.length > page.limit }
}
