import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { stepSeconds, useTrafficByDecision } from '../../session/traffic.ts'
import { actedSeries, decisionBar } from '../../kit/decision-bars.ts'
import { time } from '../../kit/format.ts'
import { StackedBars, TimeAxis, type Bar } from '../../kit/stacked-bars.tsx'
import { words } from '../../words/en.ts'
import styles from './histogram.module.css'

/** What was acted on over the time range. A click on a bar narrows the range to it. */
export function Histogram() {
  const [active, setActive] = useState<number>()
  const { data } = useTrafficByDecision()
  const navigate = useNavigate()
  if (data === undefined) return null
  const bars = data.data.map(decisionBar)
  const select = ({ startMs }: Bar): void => {
    const from = startMs / 1_000
    const range = { range: undefined, from, to: from + stepSeconds[data.step] }
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...range }) })
  }
  const shown = active === undefined ? undefined : bars[active]
  const acted = shown && actedSeries.filter(({ id }) => (shown.values[id] ?? 0) > 0)
  const caption = acted?.map(({ id, name }) => `${name} ${shown?.values[id]}`).join(', ')
  return (
    <div className={styles.histogram} title={words.traffic.zoom}>
      <StackedBars
        label={words.overview.decisions}
        bars={bars}
        series={actedSeries}
        height={44}
        hasAxis={false}
        active={active}
        onActive={setActive}
        onSelect={select}
      />
      {shown ? (
        <p>
          {time(shown.startMs)} {caption}
        </p>
      ) : (
        <TimeAxis bars={bars} />
      )}
    </div>
  )
}
