import type { Statement, Value } from './database.ts'

export type BulkInsert = {
  readonly table: string
  readonly columns: readonly string[]
  /** What follows the rows, such as `on conflict … do nothing`. */
  readonly suffix?: string
}

/** How many rows one statement adds. Few sizes, because engines remember a statement by its text. */
const sizes = [32, 16, 8, 4, 2, 1] as const

/** Makes the statements that add any number of rows: few of them, and few different ones. */
export function createBulkInsert({ table, columns, suffix = '' }: BulkInsert) {
  const places = (row: number): string => columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ')
  const textFor = (count: number): string => {
    const tuples = Array.from({ length: count }, (_, row) => `(${places(row)})`)
    return `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')} ${suffix}`
  }
  const texts = sizes.map((count) => ({ count, sql: textFor(count) }))

  return (rows: readonly (readonly Value[])[]): Statement[] => {
    const statements: Statement[] = []
    let at = 0
    for (const { count, sql } of texts) {
      for (; rows.length - at >= count; at += count) statements.push({ sql, params: joined(rows, at, at + count) })
    }
    return statements
  }
}

/** Several times cheaper than `flat`. */
function joined(rows: readonly (readonly Value[])[], from: number, end: number): Value[] {
  const values: Value[] = []
  for (let at = from; at < end; at++) values.push(...(rows[at] ?? []))
  return values
}
