import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import styles from './brush.module.css'

type BrushProps = {
  readonly label: string
  readonly hint: string
  /** How many bars the chart below has. */
  readonly count: number
  /** The time from the first to the last of some bars, in words. */
  readonly describe: (first: number, last: number) => string
  readonly onActive: (at: number | undefined) => void
  readonly onSelect: (first: number, last: number) => void
  /** Called for Escape if nothing is chosen. */
  readonly onBack: () => void
}

type Range = { readonly anchor: number; readonly end: number }

const boundsOf = ({ anchor, end }: Range): readonly [number, number] => [Math.min(anchor, end), Math.max(anchor, end)]

/** Lies over a chart. Dragging chooses bars; with the keyboard, arrow keys do. */
export function Brush({ label, hint, count, describe, onActive, onSelect, onBack }: BrushProps) {
  const [range, setRange] = useState<Range>()
  const [isDragging, setDragging] = useState(false)
  const barAt = (event: PointerEvent<HTMLElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return clamp(Math.floor(((event.clientX - left) / width) * count), count)
  }
  const apply = (chosen: Range): void => {
    setRange(undefined)
    setDragging(false)
    onSelect(...boundsOf(chosen))
  }
  const move = (event: PointerEvent<HTMLElement>): void => {
    const end = barAt(event)
    onActive(end)
    if (isDragging && range) setRange({ ...range, end })
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const end = clamp((range?.end ?? (step > 0 ? -1 : count)) + step, count)
      onActive(end)
      setRange(event.shiftKey && range ? { ...range, end } : { anchor: end, end })
    } else if (event.key === 'Enter' && range) apply(range)
    else if (event.key === 'Escape') {
      event.preventDefault()
      if (range) setRange(undefined)
      else onBack()
    }
  }
  const [first, last] = range ? boundsOf(range) : [0, 0]
  return (
    <div
      className={styles.brush}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={range?.end ?? 0}
      aria-valuetext={range ? describe(first, last) : hint}
      title={range ? describe(first, last) : hint}
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const anchor = barAt(event)
        setDragging(true)
        setRange({ anchor, end: anchor })
      }}
      onPointerMove={move}
      onPointerUp={() => isDragging && range && apply(range)}
      onPointerCancel={() => {
        setDragging(false)
        setRange(undefined)
      }}
      onPointerLeave={() => onActive(undefined)}
      onBlur={() => {
        onActive(undefined)
        setRange(undefined)
      }}
    >
      {range && (
        <span
          className={styles.chosen}
          style={{ left: `${(first / count) * 100}%`, width: `${((last - first + 1) / count) * 100}%` }}
        />
      )}
    </div>
  )
}

const clamp = (at: number, count: number): number => Math.min(count - 1, Math.max(0, at))
