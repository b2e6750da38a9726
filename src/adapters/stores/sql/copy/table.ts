import type { ReferencingTable } from './table-order.ts'

/** A column with its type in SQLite. */
type CopyColumn = { readonly name: string; readonly type: string }

/** A table as the schema of the source describes it. */
export type CopyTable = ReferencingTable & {
  readonly columns: readonly CopyColumn[]
  /** The columns that order its rows: the key of a table without rowid, otherwise the rowid. */
  readonly order: readonly string[]
}
