import { Link } from '@tanstack/react-router'
import type { Traffic } from '../../session/traffic.ts'
import { milliseconds, percent } from '../../kit/format.ts'
import { Sparkline } from '../../kit/sparkline.tsx'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import { useLiveFigures } from './use-live-figures.ts'
import styles from './figures.module.css'

const text = words.overview

type FiguresProps = { readonly now: Overview['now']; readonly traffic: Traffic | undefined }

type Figure = {
  readonly name: string
  readonly value: string
  readonly unit: string
  readonly values: readonly number[]
  /** The requests that the figure counts. */
  readonly filter?: { readonly status?: string; readonly min_ms?: number }
}

/** The figures of this second, each with its course over the time range. */
export function Figures({ now: loaded, traffic }: FiguresProps) {
  const now = useLiveFigures(loaded)
  const course = (pick: (result: Traffic['data'][number]['results'][number]) => number): number[] =>
    traffic?.data.map(({ results }) => results.reduce((sum, result) => sum + pick(result), 0)) ?? []
  const figures: readonly Figure[] = [
    {
      name: text.requests,
      value: now.requests_per_second.toFixed(1),
      unit: '/s',
      values: course((each) => each.requests),
    },
    {
      name: text.denied,
      ...parts(percent(now.denied_share)),
      values: course((each) => each.denied),
      filter: { status: 'denied' },
    },
    {
      name: text.errors,
      ...parts(percent(now.error_share)),
      values: course((each) => each.errors),
      filter: { status: 'error' },
    },
    {
      name: text.p95,
      value: milliseconds(now.p95_ms),
      unit: 'ms',
      values: [],
      ...(now.p95_ms !== null && { filter: { min_ms: now.p95_ms } }),
    },
    { name: text.inFlight, value: String(now.in_flight), unit: '', values: [] },
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(({ name, value, unit, values, filter }) => (
        <div key={name}>
          <dt>
            {filter === undefined ? (
              name
            ) : (
              <Link to="/requests" search={filter}>
                {name}
              </Link>
            )}
          </dt>
          <dd>
            <span className={styles.value}>{value}</span> <span className={styles.unit}>{unit}</span>
          </dd>
          <Sparkline values={values} />
        </div>
      ))}
    </dl>
  )
}

function parts(figure: string): { value: string; unit: string } {
  const [value = figure, unit = ''] = figure.split(' ')
  return { value, unit }
}
