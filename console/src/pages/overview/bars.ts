import { actedSeries, decisionBar } from '../../kit/decision-bars.ts'
import type { Series } from '../../kit/series.ts'
import type { Bar } from '../../kit/stacked-bars.tsx'
import type { Traffic } from '../../session/traffic.ts'
import { words } from '../../words/en.ts'
import type { OverviewPeriod } from './queries.ts'

/** The series of acts, with errors split by who caused them. */
export const splitSeries: readonly Series[] = actedSeries.flatMap((series) =>
  series.id === 'errors'
    ? [
        series,
        { id: 'rateLimited', name: words.overview.rateLimited, tone: 'warning' },
        { id: 'otherErrors', name: words.overview.otherErrors, tone: 'none' },
      ]
    : [series],
)

/** The bars of the traffic, in which errors are failures only. */
export function splitBars(traffic: Traffic, period: Pick<OverviewPeriod, 'steps'>): Bar[] {
  const byStart = new Map(period.steps.map((step) => [step.start_time, step]))
  return traffic.data.map((each) => {
    const { startMs, values } = decisionBar(each)
    const step = byStart.get(each.start_time)
    const [failed, rateLimited] = [step?.failed ?? 0, step?.rate_limited ?? 0]
    const otherErrors = Math.max(0, (values['errors'] ?? 0) - failed - rateLimited)
    return { startMs, values: { ...values, errors: failed, rateLimited, otherErrors } }
  })
}

export type Publication = OverviewPeriod['publications'][number]

/** What came into force during one bar. */
export type Mark = { readonly at: number; readonly publications: readonly Publication[] }

/** The publications by the bar of their time. Those of one bar share a mark. */
export function marksOf(bars: readonly Bar[], publications: readonly Publication[]): Mark[] {
  const barOf = ({ at }: Publication): number => bars.findLastIndex(({ startMs }) => startMs <= at * 1_000)
  const byBar = Map.groupBy(publications, barOf)
  return [...byBar].filter(([at]) => at >= 0).map(([at, ofBar]) => ({ at, publications: ofBar }))
}
