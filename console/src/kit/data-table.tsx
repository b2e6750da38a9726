import type { ReactNode } from 'react'
import styles from './data-table.module.css'

export type DataColumn<Row> = {
  readonly id: string
  readonly name: string
  readonly isNumber?: boolean
  /** 1 is shown on every screen, 2 not on small ones, 3 only on wide ones. */
  readonly priority?: 1 | 2 | 3
  readonly cell: (row: Row) => ReactNode
}

type TableProps<Row> = {
  /** What the table lists, for screen readers. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly DataColumn<Row>[]
  readonly idOf: (row: Row) => string
  readonly selectedId?: string | undefined
}

/** A table of at most some hundred rows. The first cell of a row holds its link or button. */
export function DataTable<Row>({ label, rows, columns, idOf, selectedId }: TableProps<Row>) {
  return (
    <div className={styles.scroller} role="region" aria-label={label} tabIndex={0}>
      <table className={`${styles.table} ${styles.flexible}`}>
        <thead>
          <tr>
            {columns.map(({ id, name, isNumber, priority = 1 }) => (
              <th key={id} scope="col" data-number={isNumber} data-priority={priority}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)} aria-selected={selectedId === undefined ? undefined : idOf(row) === selectedId}>
              {columns.map(({ id, isNumber, priority = 1, cell }) => (
                <td key={id} data-number={isNumber} data-priority={priority}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
