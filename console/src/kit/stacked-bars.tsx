import { Shape, type Tone } from './badge.tsx'
import { axisTime, count, shortCount } from './format.ts'
import type { Series, SeriesTone } from './series.ts'
import styles from './charts.module.css'

export type Bar = {
  /** In milliseconds. */
  readonly startMs: number
  readonly values: Readonly<Record<string, number>>
}

type BarsProps = {
  readonly label: string
  readonly bars: readonly Bar[]
  readonly series: readonly Series<Tone | SeriesTone>[]
  /** In pixels. */
  readonly height: number
  readonly hasAxis?: boolean
  /** Of amounts that are no counts: the label of the axis. */
  readonly amountOf?: (value: number) => string
  /** The bar under the pointer, shared by charts over the same time. */
  readonly active: number | undefined
  readonly onActive: (at: number | undefined) => void
}

const gap = 0.2

/** Bars over time, each stacked from its series. The table behind the chart has the same figures. */
export function StackedBars(props: BarsProps) {
  const { label, bars, series, height, hasAxis = true, amountOf, active, onActive } = props
  const sums = bars.map(({ values }) => series.reduce((sum, { id }) => sum + (values[id] ?? 0), 0))
  const most = Math.max(0, ...sums)
  const top = niceTop(amountOf === undefined || most === 0 ? Math.max(1, most) : most)
  return (
    <div className={styles.plot} style={{ height }}>
      {hasAxis && (
        <>
          <span className={styles.yTop}>{(amountOf ?? shortCount)(top)}</span>
          <span className={styles.yZero}>0</span>
        </>
      )}
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${Math.max(1, bars.length)} 1`}
        preserveAspectRatio="none"
        onPointerLeave={() => onActive(undefined)}
      >
        {bars.map(({ values }, at) => {
          let base = 1
          return (
            <g key={at} onPointerEnter={() => onActive(at)}>
              <rect className={styles.hit} data-active={at === active} x={at} y={0} width={1} height={1} />
              {series.map(({ id, tone }) => {
                const part = (values[id] ?? 0) / top
                base -= part
                return (
                  part > 0 && (
                    <rect
                      key={id}
                      className={styles.part}
                      data-tone={tone}
                      x={at + gap / 2}
                      y={base}
                      width={1 - gap}
                      height={part}
                    />
                  )
                )
              })}
            </g>
          )
        })}
      </svg>
    </div>
  )
}

/** The next 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10
  return step * power
}

export function TimeAxis({ bars }: { readonly bars: readonly Bar[] }) {
  const first = bars[0]
  const last = bars.at(-1)
  if (!first || !last) return null
  const span = (last.startMs - first.startMs) / 1_000
  const shown = [0, 0.25, 0.5, 0.75, 1].map((share) => bars[Math.round(share * (bars.length - 1))])
  return (
    <div className={styles.axis} aria-hidden="true">
      {shown.map((bar, at) => (
        <span key={at}>{bar && axisTime(bar.startMs, span)}</span>
      ))}
    </div>
  )
}

type LegendProps = {
  readonly series: readonly Series<Tone | SeriesTone>[]
  readonly sums: Readonly<Record<string, number>>
  readonly amountOf?: (value: number) => string
}

export function Legend({ series, sums, amountOf = count }: LegendProps) {
  return (
    <ul className={styles.legend}>
      {series.map(({ id, name, tone }) => (
        <li key={id}>
          {isMeaning(tone) ? <Shape tone={tone} /> : <Swatch tone={tone} />}
          <span>{name}</span> <b>{amountOf(sums[id] ?? 0)}</b>
        </li>
      ))}
    </ul>
  )
}

const isMeaning = (tone: Tone | SeriesTone): tone is Tone => tone !== 'rest' && !tone.startsWith('series')

/** The colour of a series, beside its name. */
export const Swatch = ({ tone }: { readonly tone: SeriesTone }) => (
  <i className={styles.swatch} data-tone={tone} aria-hidden="true" />
)
