import type { Statement, Value } from './database.ts'

export type BulkInsert = {
  readonly table: string
  readonly columns: readonly string[]
  /** SQL after the rows, such as `on conflict … do nothing`. */
  readonly suffix?: string
  /** Of the prepared statement, where two inserts into one table differ in their columns. */
  readonly name?: string
}

/** Rows per statement. Engines cache prepared statements by text, and each number of rows has a text of its own. */
const maxRows = 32

/** Returns a function that creates the statements to insert any number of rows, as few as possible. */
export function createBulkInsert({ table, columns, suffix = '', ...given }: BulkInsert) {
  const texts = new Map<number, string>()
  const name = given.name ?? `insert ${table}${suffix === '' ? '' : ' or skip'}`

  const placeholders = (row: number): string => columns.map((_, at) => `$${row * columns.length + at + 1}`).join(', ')
  const textFor = (count: number): string => {
    const cached = texts.get(count)
    if (cached !== undefined) return cached
    const tuples = Array.from({ length: count }, (_, row) => `(${placeholders(row)})`)
    const text = `insert into ${table} (${columns.join(', ')}) values ${tuples.join(', ')} ${suffix}`
    texts.set(count, text)
    return text
  }

  return (rows: readonly (readonly Value[])[]): Statement[] => {
    const statements: Statement[] = []
    for (let at = 0; at < rows.length; at += maxRows) {
      const end = Math.min(at + maxRows, rows.length)
      statements.push({ sql: textFor(end - at), params: joined(rows, at, end), name: `${name} ${end - at}` })
    }
    return statements
  }
}

/** Several times faster than `flat`. A single row, as at a modest rate, is not copied. */
function joined(rows: readonly (readonly Value[])[], from: number, end: number): readonly Value[] {
  const [first = [], ...others] = rows.slice(from, end)
  return others.length === 0 ? first : first.concat(...others)
}
