import { useRef, type KeyboardEvent } from 'react'
import { words } from '../words/en.ts'
import { IconButton } from './button.tsx'
import { addDays, addMonths, dateText, monthName, weekdayNames, weeksOf, type CalendarMonth } from './calendar-days.ts'
import styles from './calendar.module.css'

type CalendarProps = {
  readonly month: CalendarMonth
  readonly onMonth: (month: CalendarMonth) => void
  /** Days are texts such as `2026-11-10`. */
  readonly today: string
  readonly first: string | undefined
  readonly last: string | undefined
  readonly onPick: (day: string) => void
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** The days of a month. Arrow keys move between days. */
export function Calendar({ month, onMonth, today, first, last, onPick }: CalendarProps) {
  const grid = useRef<HTMLTableElement>(null)
  const weeks = weeksOf(month)
  const days = weeks.flat().filter((day) => day !== undefined)
  const isChosen = (day: string): boolean => first !== undefined && last !== undefined && first <= day && day <= last
  const tabStop = days.find(isChosen) ?? days.find((day) => day === today) ?? days[0]
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key]
    const focused = event.target instanceof HTMLElement ? event.target.dataset['day'] : undefined
    if (step === undefined || focused === undefined) return
    event.preventDefault()
    const next = addDays(focused, step)
    grid.current?.querySelector<HTMLElement>(`[data-day="${next}"]`)?.focus()
  }
  return (
    <div className={styles.calendar}>
      <div className={styles.head}>
        <IconButton
          icon="down"
          className={styles.previous}
          isSmall
          label={words.range.previousMonth}
          onClick={() => onMonth(addMonths(month, -1))}
        />
        <span aria-live="polite">{monthName(month)}</span>
        <IconButton
          icon="down"
          className={styles.next}
          isSmall
          label={words.range.nextMonth}
          onClick={() => onMonth(addMonths(month, 1))}
        />
      </div>
      <table ref={grid} onKeyDown={onKeyDown} aria-label={monthName(month)}>
        <thead>
          <tr>
            {weekdayNames.map(({ short, long }) => (
              <th key={long} scope="col" abbr={long}>
                {short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week, at) => (
            <tr key={at}>
              {week.map((day, weekday) => (
                <td key={weekday}>
                  {day !== undefined && (
                    <button
                      type="button"
                      data-day={day}
                      tabIndex={day === tabStop ? 0 : -1}
                      aria-label={dateText(day)}
                      aria-pressed={isChosen(day)}
                      aria-current={day === today ? 'date' : undefined}
                      disabled={day > today}
                      onClick={() => onPick(day)}
                    >
                      {Number(day.slice(-2))}
                    </button>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
