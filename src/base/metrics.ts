/**
 * Prometheus counters and histograms with closed label sets: a label value that is not listed is counted as `other`, so that
 * callers cannot create an unlimited number of series. `closed-by-caller` is for values that only the gateway's code can make.
 */
export type Labels = Readonly<Record<string, readonly string[] | 'closed-by-caller'>>

type LabelValues<L extends Labels> = { readonly [Name in keyof L]: string }

export type Counter<L extends Labels> = {
  add(labels: LabelValues<L>, by?: number): void
  /** Returns a function that counts. Keep it on hot paths, because finding the series costs more than counting. */
  series(labels: LabelValues<L>): (by?: number) => void
}

export type Histogram<L extends Labels> = {
  /** Returns a function that observes a value. Keep it, because finding the series costs more than observing. */
  series(labels: LabelValues<L>): (value: number) => void
}

export type Metrics = {
  counter<const L extends Labels>(name: string, help: string, labels: L): Counter<L>
  histogram<const L extends Labels>(
    name: string,
    help: string,
    options: { labels: L; buckets: readonly number[] },
  ): Histogram<L>
  /** A value that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void
  /** Values that are read together at each scrape. */
  readings(headings: readonly MetricHeading[], read: () => readonly MetricReading[]): void
  /** All metrics in the Prometheus text format. */
  expose(): string
}

export type MetricHeading = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
}

export type MetricReading = {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

export function createMetrics(): Metrics {
  const families: (() => string)[] = []

  return {
    counter(name, help, labels) {
      const series = new Map<string, { count: number }>()
      const keyOf = closedSet(labels)
      families.push(() =>
        exposition(
          { name, help, type: 'counter' },
          [...series].map(([key, { count }]) => `${name}${key} ${count}`),
        ),
      )
      const entryOf = (values: LabelValues<typeof labels>): { count: number } => {
        const key = keyOf(values)
        const entry = series.get(key) ?? { count: 0 }
        series.set(key, entry)
        return entry
      }
      return {
        add: (values, by = 1) => void (entryOf(values).count += by),
        series(values) {
          const entry = entryOf(values)
          return (by = 1) => void (entry.count += by)
        },
      }
    },
    histogram(name, help, { labels, buckets }) {
      const series = new Map<string, { counts: number[]; sum: number; total: number }>()
      const seriesOf = closedSet(labels)
      families.push(() =>
        exposition(
          { name, help, type: 'histogram' },
          [...series].flatMap(([key, value]) => bucketLines({ name, key, buckets, ...value })),
        ),
      )
      return {
        series(values) {
          const key = seriesOf(values)
          const entry = series.get(key) ?? { counts: buckets.map(() => 0), sum: 0, total: 0 }
          series.set(key, entry)
          return (value) => {
            const at = buckets.findIndex((bound) => value <= bound)
            if (at >= 0) entry.counts[at] = (entry.counts[at] ?? 0) + 1
            entry.sum += value
            entry.total++
          }
        },
      }
    },
    gauge(name, help, read) {
      families.push(() => exposition({ name, help, type: 'gauge' }, [`${name} ${read()}`]))
    },
    readings(headings, read) {
      families.push(() => {
        const lines = Map.groupBy(read(), ({ name }) => name)
        return headings.map((heading) => exposition(heading, lines.get(heading.name)?.map(readingLine) ?? [])).join('')
      })
    },
    expose: () => families.map((family) => family()).join(''),
  }
}

const exposition = ({ name, help, type }: MetricHeading, lines: readonly string[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')

function readingLine({ name, labels = {}, value }: MetricReading): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

/** The names of models and upstreams come from the operator's file, so they may contain any character. */
const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

function closedSet(labels: Labels): (values: Readonly<Record<string, string>>) => string {
  const names = Object.keys(labels)
  const known = names.map((name) => (labels[name] === 'closed-by-caller' ? undefined : new Set(labels[name])))
  return (values) => {
    const valueOf = (name: string, at: number): string => {
      const value = values[name] ?? 'other'
      return known[at] === undefined || known[at].has(value) ? value : 'other'
    }
    const pairs = names.map((name, at) => `${name}="${escaped(valueOf(name, at))}"`)
    return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  }
}

type HistogramSeries = {
  readonly name: string
  readonly key: string
  readonly buckets: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
  readonly total: number
}

function bucketLines({ name, key, buckets, counts, sum, total }: HistogramSeries): string[] {
  const inner = key.slice(1, -1)
  const withBound = (bound: string): string => `{${inner === '' ? '' : `${inner},`}le="${bound}"}`
  let running = 0
  const lines = buckets.map((bound, at) => `${name}_bucket${withBound(String(bound))} ${(running += counts[at] ?? 0)}`)
  return [
    ...lines,
    `${name}_bucket${withBound('+Inf')} ${total}`,
    `${name}_sum${key} ${sum}`,
    `${name}_count${key} ${total}`,
  ]
}
