import type { CopyTable } from './table.ts'

/** A count or a sum of a table, with the name that a difference is reported by. */
type Sum = { readonly name: string; readonly sql: string }

const sumOf = (sql: string): string => `coalesce(sum(${sql}), 0)`

/** The halves of an integer are summed up apart, because SQLite fails where a sum exceeds 64 bits. */
function sumsOf({ columns }: CopyTable): Sum[] {
  return [
    { name: 'number of rows', sql: 'count(*)' },
    ...columns.flatMap(({ name, type }) => {
      const column = `"${name}"`
      const values = { name: `number of values in ${name}`, sql: `count(${column})` }
      if (type === 'INTEGER')
        return [
          values,
          { name: `sum of ${name}`, sql: sumOf(`${column} >> 32`) },
          { name: `sum of ${name}`, sql: sumOf(`${column} & 4294967295`) },
        ]
      // The order of the additions changes a sum of floating-point numbers.
      if (type === 'REAL') return [values]
      return [values, { name: `sum of the lengths of ${name}`, sql: sumOf(`octet_length(${column})`) }]
    }),
  ]
}

/** One statement for both engines. It returns one row, with a text for each sum. */
export const sumsQuery = (table: CopyTable): string =>
  `select ${sumsOf(table)
    .map(({ sql }, at) => `cast(${sql} as text) as s${at}`)
    .join(', ')} from "${table.name}"`

export type TableSums = readonly string[]

/** The first sum that differs, in words; undefined if all are equal. */
export function differenceOf(table: CopyTable, source: TableSums, target: TableSums): string | undefined {
  const at = source.findIndex((sum, index) => sum !== target[index])
  if (at === -1) return undefined
  return `${sumsOf(table)[at]?.name ?? 'a sum'}: ${source[at] ?? ''} in the source, ${target[at] ?? ''} in the target`
}
