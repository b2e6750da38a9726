import { Fault } from '../../../base/fault.ts'
import { createNameSearch } from '../../../domain/identity/names.ts'
import type { NamedPage, Page, Paged } from '../../../domain/identity/store.ts'
import type { DatabaseRow, Transaction, Value } from './database.ts'

export type Listing<R extends DatabaseRow, T> = {
  readonly table: string
  readonly columns: string
  /** Columns that must equal these values: the organization, and further filters. */
  readonly where: Readonly<Record<string, string | null>>
  /** Further conditions of rows in the list. A cursor may also name other rows, so that a row that changes between two pages does not invalidate a cursor on it. */
  readonly only?: readonly Condition[]
  /** A condition that SQL cannot express the same way on both engines. Rows are read in batches until the page is full. */
  readonly matches?: ((row: R) => boolean) | undefined
  /** The column that cursors refer to. */
  readonly id?: string
  /** The column that orders the list; unique within it. */
  readonly by?: string
  readonly map: (row: R) => T
}

/** SQL with a `?` for each of the values that follow. `$1` is the first value of `where`: the organization. */
export type Condition = readonly [sql: string, ...values: Value[]]

/** Rows of one query, if the page may need more rows than it has items. */
const batchSize = 500

/** Keyset pagination: every page costs the same, and inserted or deleted rows do not shift the pages. */
export async function selectPage<R extends DatabaseRow, T>(
  tx: Pick<Transaction, 'query'>,
  listing: Listing<R, T>,
  page: Page,
): Promise<Paged<T>> {
  const { matches = () => true, map } = listing
  const wanted = page.limit + 1
  const most = listing.matches === undefined ? wanted : Math.max(wanted, batchSize)
  const found: R[] = []
  let position = page.after === undefined ? undefined : await positionOf(tx, listing, page.after)
  for (;;) {
    const rows = await selectRows<R>(tx, listing, { order: page.order, position, limit: most })
    found.push(...rows.map(({ row }) => row).filter(matches))
    position = rows.at(-1)?.position
    if (found.length >= wanted || rows.length < most) break
  }
  return { items: found.slice(0, page.limit).map(map), hasMore: found.length > page.limit }
}

/** How many rows a list has, up to `most`. */
export async function countRows(
  tx: Pick<Transaction, 'query'>,
  { table, where, only = [] }: Pick<Listing<never, never>, 'table' | 'where' | 'only'>,
  most?: number,
): Promise<number> {
  const { conditions, params } = numbered([...equalities(where), ...only])
  const rows = `from ${table} where ${conditions.join(' and ')}`
  const counted = most === undefined ? rows : `from (select 1 as one ${rows} limit ${Math.trunc(most)}) as matching`
  const sql = `select count(*) as rows ${counted}`
  const [row] = await tx.query<{ rows: number }>(sql, params)
  return row?.rows ?? 0
}

type Position = string | number

type Batch = { readonly order: Page['order']; readonly position: Position | undefined; readonly limit: number }

/** The place of a cursor in the order of the list. */
export async function positionOf(
  tx: Pick<Transaction, 'query'>,
  { table, where, id = 'id', by = id }: Pick<Listing<never, never>, 'table' | 'where' | 'id' | 'by'>,
  cursor: string,
): Promise<Position> {
  const { conditions, params } = numbered([...equalities(where), [`${id} = ?`, cursor]])
  const [row] = await tx.query<{ position: Position }>(
    `select ${by} as position from ${table} where ${conditions.join(' and ')}`,
    params,
  )
  if (row) return row.position
  throw new Fault('malformed', 'invalid_cursor', `after: ${cursor} is not in this list.`, { param: 'after' })
}

async function selectRows<R extends DatabaseRow>(
  tx: Pick<Transaction, 'query'>,
  listing: Listing<R, unknown>,
  { order, position, limit }: Batch,
): Promise<{ row: R; position: Position }[]> {
  const { table, columns, where, only = [], id = 'id', by = id } = listing
  const start: Condition[] = position === undefined ? [] : [[`${by} ${order === 'asc' ? '>' : '<'} ?`, position]]
  const { conditions, params } = numbered([...equalities(where), ...start, ...only])
  const filter = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const rows = await tx.query<R & { list_position: Position }>(
    `select ${columns}, ${by} as list_position from ${table} ${filter} order by ${by} ${order} limit $${params.length + 1}`,
    [...params, limit],
  )
  return rows.map(({ list_position, ...row }) => ({ row: row as unknown as R, position: list_position }))
}

const equalities = (where: Listing<never, never>['where']): Condition[] =>
  Object.entries(where).map(([name, value]) => (value === null ? [`${name} is null`] : [`${name} = ?`, value]))

/** Numbers the parameters of all conditions: `?` becomes `$1`, `$2` and so on. */
function numbered(all: readonly Condition[]): { conditions: string[]; params: Value[] } {
  const params = all.flatMap(([, ...values]) => values)
  let count = 0
  const conditions = all.map(([sql]) => sql.replaceAll('?', () => `$${++count}`))
  return { conditions, params }
}

/** The engines fold letters beyond ASCII differently, so names are compared here. */
export function nameMatches({ search }: NamedPage): ((row: { name: string }) => boolean) | undefined {
  const isMatch = createNameSearch(search)
  return isMatch && (({ name }) => isMatch(name))
}
