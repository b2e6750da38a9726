import type { Statement, Value } from './database.ts'

export type BulkInsert = {
  readonly table: string
  readonly columns: readonly string[]
  /** What follows the rows, such as `on conflict … do nothing`. */
  readonly suffix?: string
}

/** The most rows that one statement adds: engines remember it by its text, and there is a text for every number of rows. */
const mostRows = 32

/** Makes the statements that add any number of rows: as few as can be. */
export function createBulkInsert({ table, columns, suffix = '' }: BulkInsert) {
  const texts = new Map<number, string>()

  const places = (row: number): string => columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ')
  const textFor = (count: number): string => {
    const known = texts.get(count)
    if (known !== undefined) return known
    const tuples = Array.from({ length: count }, (_, row) => `(${places(row)})`)
    const text = `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')} ${suffix}`
    texts.set(count, text)
    return text
  }

  return (rows: readonly (readonly Value[])[]): Statement[] => {
    const statements: Statement[] = []
    for (let at = 0; at < rows.length; at += mostRows) {
      const end = Math.min(at + mostRows, rows.length)
      statements.push({ sql: textFor(end - at), params: joined(rows, at, end) })
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
