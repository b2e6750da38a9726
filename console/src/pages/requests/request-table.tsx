import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { Column, ColumnNames } from './columns.tsx'
import type { RequestRow } from './queries.ts'
import styles from './request-table.module.css'

type TableProps = {
  readonly rows: readonly RequestRow[]
  readonly columns: readonly Column[]
  readonly names: ColumnNames
  readonly selectedId: string | undefined
  readonly onOpen: (row: RequestRow) => void
  /** Called when the end of the rows comes into view. */
  readonly onEnd: () => void
}

/** Rows from this many before the end are a reason to load more. */
const endDistance = 20

/** Only the rows in view are elements; spacers above and below have the height of the others. */
export function RequestTable({ rows, columns, names, selectedId, onOpen, onEnd }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const rowHeight = useRowHeight()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const first = items[0]
  const last = items.at(-1)
  const isAtEnd = last !== undefined && last.index >= rows.length - endDistance
  useEffect(() => {
    if (isAtEnd) onEnd()
  }, [isAtEnd, onEnd])
  const selectedAt = rows.findIndex(({ id }) => id === selectedId)
  useEffect(() => {
    if (selectedAt >= 0) virtual.scrollToIndex(selectedAt, { align: 'auto' })
  }, [selectedAt, virtual])

  return (
    <div ref={scroller} className={styles.scroller} tabIndex={0}>
      <table className={styles.table} aria-rowcount={rows.length}>
        <colgroup>
          {columns.map(({ id, width, priority }) => (
            <col key={id} style={{ width }} data-priority={priority} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ id, name, isNumber, priority }) => (
              <th key={id} scope="col" data-number={isNumber} data-priority={priority}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first !== undefined && first.start > 0 && <Spacer height={first.start} />}
          {items.map(({ index }) => {
            const row = rows[index]
            if (row === undefined) return null
            return (
              <tr
                key={row.id}
                aria-rowindex={index + 1}
                aria-selected={row.id === selectedId}
                onClick={() => onOpen(row)}
              >
                {columns.map(({ id, isNumber, priority, cell }, at) => (
                  <td key={id} data-number={isNumber} data-priority={priority}>
                    {at === 0 ? (
                      <button type="button" className={styles.open} onClick={() => onOpen(row)}>
                        {cell(row, names)}
                      </button>
                    ) : (
                      cell(row, names)
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
          {last !== undefined && <Spacer height={virtual.getTotalSize() - last.end} />}
        </tbody>
      </table>
    </div>
  )
}

const Spacer = ({ height }: { readonly height: number }) => (
  <tr aria-hidden="true" className={styles.spacer}>
    <td style={{ height }} />
  </tr>
)

const defaultRowHeight = 32

/** The height of a row in the chosen density. */
function useRowHeight(): number {
  const height = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row'))
  return Number.isFinite(height) ? height : defaultRowHeight
}
