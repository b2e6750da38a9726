import { Link } from '@tanstack/react-router'
import { count, dollars, oneDigit, percent } from '../../kit/format.ts'
import { Sparkline } from '../../kit/sparkline.tsx'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { changeText, latencyChange, latencyText } from './changes.ts'
import type { OverviewPeriod } from './queries.ts'
import { useLiveFigures } from './use-live-figures.ts'
import styles from './figures.module.css'

const text = words.overview

type Step = OverviewPeriod['steps'][number]

type Figure = {
  readonly name: string
  readonly hint?: string
  readonly value: string
  readonly note: string
  readonly change: string
  readonly values: readonly number[]
  /** The requests that the figure counts. */
  readonly filter?: Readonly<Record<string, string | readonly string[]>>
}

type FiguresProps = { readonly now: Overview['now']; readonly period: OverviewPeriod }

/** What became of the requests of the time range, each figure beside the period before and with its course. */
export function Figures({ now: loaded, period }: FiguresProps) {
  const now = useLiveFigures(loaded)
  const { name: range } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const { figures, before, steps } = period
  const counted = (id: 'denied' | 'failed' | 'rate_limited') => ({
    value: count(figures[id]),
    note: figures.requests === 0 ? '' : percent(figures[id] / figures.requests),
    change: changeText(figures[id], before[id], range),
    values: steps.map((step) => step[id]),
  })
  const all: readonly Figure[] = [
    {
      name: text.requests,
      value: count(figures.requests),
      note: text.now(oneDigit(now.requests_per_second), count(now.in_flight)),
      change: changeText(figures.requests, before.requests, range),
      values: steps.map((step) => step.requests),
    },
    { name: text.denied, ...counted('denied'), filter: { status: 'denied' } },
    {
      name: text.errors,
      hint: text.errorsHint,
      ...counted('failed'),
      filter: { status: 'error', error: period.failure_codes },
    },
    { name: text.rateLimited, ...counted('rate_limited'), filter: { error: 'rate_limit_exceeded' } },
    ...(figures.spent_usd === null || before.spent_usd === null
      ? []
      : [
          {
            name: text.spent,
            value: dollars(figures.spent_usd),
            note: '',
            change: changeText(figures.spent_usd, before.spent_usd, range),
            values: steps.map((step) => step.cost_usd),
          },
        ]),
    {
      name: text.p95,
      value: latencyText(figures.p95),
      note: '',
      change: latencyChange(figures.p95, before.p95, range),
      values: steps.map(latencyOf),
    },
  ]
  return (
    <dl className={styles.figures} aria-label={text.figures}>
      {all.map((figure) => (
        <FigureTile key={figure.name} figure={figure} />
      ))}
    </dl>
  )
}

const FigureTile = ({ figure: { name, hint, value, note, change, values, filter } }: { readonly figure: Figure }) => (
  <div>
    <dt title={hint}>
      {filter === undefined ? (
        name
      ) : (
        <Link to="/requests" search={filter}>
          {name}
        </Link>
      )}
    </dt>
    <dd>
      <span className={styles.value}>{value}</span> <span className={styles.note}>{note}</span>
      <span className={styles.change}>{change}</span>
    </dd>
    <Sparkline values={values} />
  </div>
)

const latencyOf = ({ p95 }: Step): number => p95?.estimate_ms ?? p95?.to_ms ?? p95?.from_ms ?? 0
