import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { buttonClass } from '../kit/button.tsx'
import { Calendar } from '../kit/calendar.tsx'
import { dayAt, daysRange, monthOf, type CalendarMonth } from '../kit/calendar-days.ts'
import { zoneName } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Popover } from '../kit/popover.tsx'
import { Segmented } from '../kit/segmented.tsx'
import { timeZoneOf, zones } from '../kit/zone.ts'
import { words } from '../words/en.ts'
import {
  rangeLabel,
  rangeNames,
  timeRangeOf,
  useTimeRangeSearch,
  useZone,
  type TimeRangeSearch,
} from '../session/time-range.ts'
import { RangeWords } from './range-words-form.tsx'
import styles from './range-menu.module.css'

const text = words.range

/** The time range and the zone of all pages: presets, words and a calendar. The address holds them. */
export function RangeMenu() {
  const [isOpen, setOpen] = useState(false)
  const search = useTimeRangeSearch()
  const zone = useZone()
  const navigate = useNavigate()
  const set = (range: TimeRangeSearch): void =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, range: range.range, from: range.from, to: range.to }),
    })
  return (
    <Popover
      isOpen={isOpen}
      onOpen={setOpen}
      label={text.label}
      triggerClass={buttonClass({ look: 'normal' })}
      trigger={
        <>
          <Icon name="clock" size={14} />
          <span className={styles.name}>{rangeLabel(search)}</span>
          <span className={styles.zone}>{zoneName()}</span>
          <Icon name="down" size={14} />
        </>
      }
    >
      <RangeWords
        onRange={(range) => {
          set(range)
          setOpen(false)
        }}
      />
      <div className={styles.choices}>
        <Presets
          search={search}
          onChoose={(range) => {
            set(range)
            setOpen(false)
          }}
        />
        <Days search={search} onChoose={set} />
      </div>
      <Segmented
        label={text.zone}
        options={zones}
        nameOf={(each) => (each === 'utc' ? text.zones.utc : text.zones.local(timeZoneOf('local')))}
        value={zone}
        onChange={(chosen) =>
          void navigate({
            to: '.',
            search: (before) => ({ ...before, zone: chosen === 'utc' ? chosen : undefined }),
            replace: true,
          })
        }
      />
    </Popover>
  )
}

type ChoiceProps = { readonly search: TimeRangeSearch; readonly onChoose: (range: TimeRangeSearch) => void }

function Presets({ search, onChoose }: ChoiceProps) {
  const { name } = timeRangeOf(search, Date.now())
  return (
    <div role="group" aria-label={text.presets} className={styles.presets}>
      {rangeNames.map((range) => (
        <button key={range} type="button" aria-pressed={range === name} onClick={() => onChoose({ range })}>
          {text[range]}
        </button>
      ))}
    </div>
  )
}

/** A click on a day chooses it. A click on a second day extends the range to it. */
function Days({ search, onChoose }: ChoiceProps) {
  const timeZone = timeZoneOf(useZone())
  const { from, to } = timeRangeOf(search, Date.now())
  const last = dayAt(to === undefined ? Date.now() : to * 1_000 - 1, timeZone)
  const [anchor, setAnchor] = useState<string>()
  const [month, setMonth] = useState<CalendarMonth>(() => monthOf(last))
  const pick = (day: string): void => {
    const [first, end] = anchor === undefined || anchor === day ? [day, day] : [anchor, day].toSorted()
    setAnchor(first === end ? day : undefined)
    onChoose(daysRange(first ?? day, end ?? day, timeZone))
  }
  return (
    <div>
      <Calendar
        month={month}
        onMonth={setMonth}
        today={dayAt(Date.now(), timeZone)}
        first={dayAt(from * 1_000, timeZone)}
        last={last}
        onPick={pick}
      />
      <p className={styles.note} role="status">
        {anchor === undefined ? '' : text.extend}
      </p>
    </div>
  )
}
