/** The figures of the stages as tables, for the terminal and for the model card. */
import type { Metrics, StageFigures } from './evaluate.ts'
import type { HoldBackFigures } from './hold-back.ts'
import type { CostFigures } from './stages.ts'

export type NamedStage = { readonly name: 'linear' | 'with encoder'; readonly figures: StageFigures }

export function stagesIn(metrics: Metrics): readonly NamedStage[] {
  const { withEncoder } = metrics
  const linear: NamedStage = { name: 'linear', figures: metrics }
  return withEncoder === undefined ? [linear] : [linear, { name: 'with encoder', figures: withEncoder }]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const percent = (share: number | undefined): string => (share === undefined ? '' : `${(share * 100).toFixed(1)} %`)
const decimal = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(3))

/** The average precision of all stages beside one another, then recall and precision at the thresholds. */
export function qualityTable(stages: readonly NamedStage[]): string {
  const first = stages[0]?.figures.quality ?? {}
  const rows = Object.entries(first).map(([category, { positives, negatives }]) => {
    const figures = stages.flatMap(({ figures: { quality } }) => quality[category] ?? [])
    return [
      category,
      `${positives} / ${negatives}`,
      ...figures.map(
        ({ averagePrecision, interval }) =>
          `${decimal(averagePrecision)} (${decimal(interval.low)} to ${decimal(interval.high)})`,
      ),
      ...figures.map(({ recall, precision }) => `${decimal(recall)} / ${decimal(precision)}`),
      ...figures.map(({ rocArea }) => decimal(rocArea)),
    ]
  })
  const columns = ['average precision', 'recall / precision', 'ROC area'].flatMap((what) =>
    stages.map(({ name }) => `${what}, ${name}`),
  )
  return table(['Category', 'Positives / negatives', ...columns], rows)
}

export type ProbedStage = { readonly name: string; readonly probes: StageFigures['probes'] }

export function probeTable(stages: readonly ProbedStage[]): string {
  const first = stages[0]?.probes ?? {}
  const rows = Object.entries(first).map(([group, { texts, expects }]) => [
    group,
    expects,
    String(texts),
    ...stages.map(({ probes }) => String(probes[group]?.right ?? '')),
    ...stages.map(({ probes }) => String(probes[group]?.always ?? '')),
  ])
  const columns = ['right', 'always blocked'].flatMap((what) => stages.map(({ name }) => `${what}, ${name}`))
  return table(['Probes', 'Expected', 'Texts', ...columns], rows)
}

export function blockedTable(shares: StageFigures['blocked']): string {
  const columns = Object.keys(Object.values(shares)[0] ?? {})
  const rows = Object.entries(shares).map(([name, row]) => [name, ...columns.map((column) => percent(row[column]))])
  return table(['Texts', ...columns], rows)
}

export function holdBackTable(schemes: StageFigures['holdBack']): string {
  const shownIn = ({ shown, shownLater }: HoldBackFigures): HoldBackFigures['shown'] => ({ ...shown, ...shownLater })
  const shown = Object.values(schemes)
    .slice(0, 1)
    .flatMap((figures) => Object.keys(shownIn(figures)))
  const delay = Object.keys(Object.values(schemes)[0]?.delay ?? {})
  const rows = Object.entries(schemes).map(([name, figures]) => [
    name,
    ...shown.map((category) => {
      const figure = shownIn(figures)[category]
      return figure === undefined ? '' : `${percent(figure.nothingShown)} / ${figure.median} / ${figure.p90}`
    }),
    ...delay.map((text) => {
      const figure = figures.delay[text]
      return figure === undefined ? '' : `${figure.median} / ${figure.mean} / ${figure.p99}`
    }),
  ])
  return table(['Hold-back', ...shown, ...delay], rows)
}

export function evasionTable(disguises: StageFigures['evasion']): string {
  const columns = Object.keys(Object.values(disguises)[0] ?? {})
  const rows = Object.entries(disguises).map(([name, recalls]) => [
    name,
    ...columns.map((column) => decimal(recalls[column])),
  ])
  return table(['Disguise', ...columns], rows)
}

export function costTable(cost: Readonly<Record<string, CostFigures>>): string {
  const rows = Object.entries(cost).map(([name, { asked, perAskedText, perAskedKilobyte, perKilobyte }]) => [
    name,
    percent(asked),
    perAskedText.toFixed(1),
    perAskedKilobyte.toFixed(1),
    perKilobyte.toFixed(1),
  ])
  return table(['Texts', 'Asked', 'ms per text asked', 'ms per KB asked', 'ms per KB of all text'], rows)
}
