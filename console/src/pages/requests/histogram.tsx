import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { rangeLabel, useTimeRangeSearch, type TimeRangeSearch } from '../../session/time-range.ts'
import { stepSeconds, useTrafficByDecision } from '../../session/traffic.ts'
import { Brush } from '../../kit/brush.tsx'
import { Button } from '../../kit/button.tsx'
import { actedSeries, decisionBar } from '../../kit/decision-bars.ts'
import { time, timeSpan } from '../../kit/format.ts'
import { StackedBars, TimeAxis } from '../../kit/stacked-bars.tsx'
import { words } from '../../words/en.ts'
import { chartFilters, unchartedFields } from './chart-filters.ts'
import type { RequestSearch } from './search.ts'
import styles from './histogram.module.css'

const text = words.requests

/** What was acted on over the time range. A part of the chart can be chosen as the range, and left again. */
export function Histogram({ search }: { readonly search: RequestSearch }) {
  const [active, setActive] = useState<number>()
  const [before, setBefore] = useState<readonly TimeRangeSearch[]>([])
  const range = useTimeRangeSearch()
  const filters = useMemo(() => chartFilters(search), [search])
  const { data } = useTrafficByDecision(filters)
  const navigate = useNavigate()
  if (data === undefined) return null
  const bars = data.data.map(decisionBar)
  const set = ({ range: name, from, to }: TimeRangeSearch): void =>
    void navigate({ to: '.', search: (current: object) => ({ ...current, range: name, from, to }) })
  const periodOf = (first: number, last: number) => ({
    from: (bars[first]?.startMs ?? 0) / 1_000,
    to: (bars[last]?.startMs ?? 0) / 1_000 + stepSeconds[data.step],
  })
  const select = (first: number, last: number): void => {
    setBefore([...before, range])
    set(periodOf(first, last))
  }
  const previous = before.at(-1)
  const goBack = (): void => {
    if (previous === undefined) return
    setBefore(before.slice(0, -1))
    set(previous)
  }
  const shown = active === undefined ? undefined : bars[active]
  const acted = shown && actedSeries.filter(({ id }) => (shown.values[id] ?? 0) > 0)
  const caption = acted?.map(({ id, name }) => `${name} ${shown?.values[id]}`).join(', ')
  const uncharted = unchartedFields(search)
  return (
    <div className={styles.histogram}>
      <div className={styles.area}>
        <StackedBars
          label={words.overview.decisions}
          bars={bars}
          series={actedSeries}
          height={44}
          hasAxis={false}
          active={active}
          onActive={setActive}
        />
        <Brush
          label={text.brush}
          hint={text.brushHint}
          count={bars.length}
          describe={(first, last) => {
            const { from, to } = periodOf(first, last)
            return timeSpan(from * 1_000, to * 1_000)
          }}
          onActive={setActive}
          onSelect={select}
          onBack={goBack}
        />
      </div>
      {shown ? (
        <p>
          {time(shown.startMs)} {caption}
        </p>
      ) : (
        <TimeAxis bars={bars} />
      )}
      {(previous !== undefined || uncharted.length > 0) && (
        <div className={styles.notes}>
          {previous !== undefined && (
            <Button look="ghost" isSmall onClick={goBack}>
              {text.zoomBack(rangeLabel(previous))}
            </Button>
          )}
          {uncharted.length > 0 && <span>{text.chartWithout(uncharted.join(', '))}</span>}
        </div>
      )}
    </div>
  )
}
