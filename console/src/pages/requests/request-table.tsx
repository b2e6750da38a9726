import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, type MouseEvent } from 'react'
import { zoneName } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { widthsOf, type CellFilter, type CellMinimum, type Column, type ColumnNames } from './columns.tsx'
import type { RequestRow } from './queries.ts'
import styles from './request-table.module.css'

type TableProps = {
  readonly rows: readonly RequestRow[]
  readonly columns: readonly Column[]
  readonly names: ColumnNames
  readonly selectedId: string | undefined
  readonly onOpen: (row: RequestRow) => void
  readonly onFilter: (filter: CellFilter | CellMinimum, isNot: boolean) => void
  /** Called when the end of the rows comes into view. */
  readonly onEnd: () => void
}

/** Rows from this many before the end are a reason to load more. */
const endDistance = 20

/** Only the rows in view are elements; spacers above and below have the height of the others. */
export function RequestTable({ rows, columns, names, selectedId, onOpen, onFilter, onEnd }: TableProps) {
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

  const { projects, keys } = names
  const zone = zoneName()
  const widths = useMemo(
    () => widthsOf(columns, rows, { names: { projects, keys }, zone }),
    [columns, rows, projects, keys, zone],
  )
  return (
    <div ref={scroller} className={styles.scroller} tabIndex={0}>
      <table className={styles.table} aria-rowcount={rows.length}>
        <Widths columns={columns} widths={widths} />
        <thead>
          <tr>
            {columns.map(({ id, name, isNumber, priority }) => (
              <th key={id} scope="col" data-number={isNumber} data-priority={priority}>
                {name}
                {id === 'time' && <span className={styles.zone}> {zone}</span>}
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
                {columns.map((column, at) => (
                  <td key={column.id} data-number={column.isNumber} data-priority={column.priority}>
                    {at === 0 ? (
                      <button type="button" className={styles.open} onClick={() => onOpen(row)}>
                        {column.text(row, names)}
                      </button>
                    ) : (
                      <Cell column={column} row={row} names={names} onFilter={onFilter} />
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

type WidthProps = { readonly columns: readonly Column[]; readonly widths: ReadonlyMap<string, number> }

/** Fixed columns are as wide as their texts. The others share the rest in proportion to theirs. */
function Widths({ columns, widths }: WidthProps) {
  const sumOf = (some: readonly Column[]): number => some.reduce((sum, { id }) => sum + (widths.get(id) ?? 0), 0)
  const fixed = sumOf(columns.filter(({ isFixed }) => isFixed))
  const flexible = sumOf(columns.filter(({ isFixed }) => !isFixed))
  return (
    <colgroup>
      {columns.map(({ id, isFixed, priority }) => {
        const width = widths.get(id) ?? 0
        const share = `calc((100cqw - ${fixed}px) * ${(width / flexible).toFixed(4)})`
        return (
          <col
            key={id}
            style={{ width: isFixed ? width : share }}
            data-flexible={isFixed !== true}
            data-priority={priority}
          />
        )
      })}
    </colgroup>
  )
}

type CellProps = Pick<TableProps, 'names' | 'onFilter'> & { readonly column: Column; readonly row: RequestRow }

/** A click filters by the value, and with Alt excludes it. Not a stop of the Tab key: the same filters can be typed and chosen. */
function Cell({ column, row, names, onFilter }: CellProps) {
  const text = column.text(row, names)
  const filter = column.filter?.(row, text)
  const content = column.cell?.(row) ?? text
  if (filter === undefined) return content
  const click = (event: MouseEvent): void => {
    event.stopPropagation()
    onFilter(filter, event.altKey)
  }
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.value}
      title={words.requests.filterBy(filter.name)}
      onClick={click}
    >
      {content}
    </button>
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
