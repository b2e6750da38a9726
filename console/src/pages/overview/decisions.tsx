import { useState } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { Traffic } from '../../session/traffic.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { count, time } from '../../kit/format.ts'
import { allSeries, sumOfBars } from '../../kit/decision-bars.ts'
import { Legend, StackedBars, TimeAxis, type Bar } from '../../kit/stacked-bars.tsx'
import { Bones, FailureState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { marksOf, splitBars, splitSeries } from './bars.ts'
import { BarCard, Marks } from './chart-cards.tsx'
import type { OverviewPeriod } from './queries.ts'
import layers from './chart-cards.module.css'
import styles from './decisions.module.css'

const text = words.overview
const series = [...allSeries, ...splitSeries]

type DecisionsProps = {
  readonly traffic: UseQueryResult<Traffic>
  readonly period: Pick<OverviewPeriod, 'steps' | 'publications'>
}

/** All requests, and below on a scale of its own what was acted on. Marks show what came into force. */
export function Decisions({ traffic, period }: DecisionsProps) {
  const [isTable, setTable] = useState(false)
  const bars = traffic.data ? splitBars(traffic.data, period) : []
  const sums = sumOfBars(bars)
  return (
    <Card
      title={text.decisions}
      note={
        <Button look="ghost" isSmall aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? text.asChart : text.asTable}
        </Button>
      }
    >
      {traffic.data === undefined && traffic.isError && (
        <FailureState title={text.trafficFailed} error={traffic.error} onRetry={() => void traffic.refetch()} />
      )}
      {traffic.data === undefined && !traffic.isError && <Bones height={chartHeight} />}
      {traffic.data && isTable && <FigureTable bars={bars} />}
      {traffic.data && !isTable && (
        <>
          <Charts bars={bars} publications={period.publications} />
          <Legend series={series} sums={sums} />
        </>
      )}
    </Card>
  )
}

/** Of the charts with their axis and legend. */
export const chartHeight = 326

type ChartsProps = { readonly bars: readonly Bar[]; readonly publications: OverviewPeriod['publications'] }

function Charts({ bars, publications }: ChartsProps) {
  const [active, setActive] = useState<number>()
  const shown = active === undefined ? undefined : bars[active]
  return (
    <>
      <div className={styles.charts}>
        <StackedBars
          label={words.traffic.allRequests}
          bars={bars}
          series={allSeries}
          height={56}
          active={active}
          onActive={setActive}
        />
        <p className={styles.caption}>{words.traffic.allRequests}</p>
        <StackedBars
          label={text.decisions}
          bars={bars}
          series={splitSeries}
          height={168}
          active={active}
          onActive={setActive}
        />
        <div className={layers.layer}>
          {shown && active !== undefined && <BarCard bar={shown} at={active} bars={bars} series={series} />}
        </div>
        <Marks marks={marksOf(bars, publications)} bars={bars.length} />
      </div>
      <TimeAxis bars={bars} />
    </>
  )
}

function FigureTable({ bars }: { readonly bars: readonly Bar[] }) {
  return (
    <div className={styles.scroller} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{words.requests.time}</th>
            {series.map(({ id, name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map(({ startMs, values }) => (
            <tr key={startMs}>
              <th scope="row">{time(startMs)}</th>
              {series.map(({ id }) => (
                <td key={id}>{count(values[id] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
