import { useState } from 'react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { Traffic } from '../../session/traffic.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { count, time } from '../../kit/format.ts'
import { actedSeries, allSeries, decisionBar, sumOfBars } from '../../kit/decision-bars.ts'
import { Legend, StackedBars, TimeAxis, type Bar } from '../../kit/stacked-bars.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import styles from './decisions.module.css'

const text = words.overview

/** All requests, and below on a scale of its own what was acted on. */
export function Decisions({ traffic }: { readonly traffic: UseQueryResult<Traffic> }) {
  const [active, setActive] = useState<number>()
  const [isTable, setTable] = useState(false)
  const bars = traffic.data?.data.map(decisionBar) ?? []
  const sums = sumOfBars(bars)
  const shown = active === undefined ? undefined : bars[active]
  return (
    <Card
      title={text.decisions}
      note={
        <Button look="ghost" isSmall aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? text.asChart : text.asTable}
        </Button>
      }
    >
      {traffic.isPending && <LoadingRows widths={[400]} rows={6} />}
      {traffic.isError && (
        <FailureState title={text.trafficFailed} error={traffic.error} onRetry={() => void traffic.refetch()} />
      )}
      {traffic.isSuccess && isTable && <FigureTable bars={bars} />}
      {traffic.isSuccess && !isTable && (
        <>
          <StackedBars
            label={words.traffic.allRequests}
            bars={bars}
            series={allSeries}
            height={56}
            active={active}
            onActive={setActive}
          />
          <p className={styles.caption}>{shown ? time(shown.startMs) : words.traffic.allRequests}</p>
          <StackedBars
            label={text.decisions}
            bars={bars}
            series={actedSeries}
            height={168}
            active={active}
            onActive={setActive}
          />
          <TimeAxis bars={bars} />
          <Legend series={[...allSeries, ...actedSeries]} sums={shown?.values ?? sums} />
        </>
      )}
    </Card>
  )
}

function FigureTable({ bars }: { readonly bars: readonly Bar[] }) {
  const series = [...allSeries, ...actedSeries]
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
