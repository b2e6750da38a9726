import { lazy, Suspense, useState } from 'react'
import { useOverview, type Overview } from '../../session/overview.ts'
import { readPreferences } from '../../session/preferences.ts'
import { useTrafficByDecision } from '../../session/traffic.ts'
import { words } from '../../words/en.ts'
import { FailureState } from '../../kit/state.tsx'
import { Attention } from './attention.tsx'
import { Decisions } from './decisions.tsx'
import { DeniedBy } from './denied-by.tsx'
import { Figures } from './figures.tsx'
import { Health } from './health.tsx'
import { OverviewBones } from './overview-bones.tsx'
import { useOverviewPeriod, type OverviewPeriod } from './queries.ts'
import { Spend } from './spend.tsx'
import styles from './page.module.css'

/** Loaded apart, because most visits do not show them. */
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }))

/** What became of the requests of the time range, how the service does now, and what needs somebody's attention. */
export function OverviewPage() {
  const overview = useOverview()
  const period = useOverviewPeriod()
  // Figures that were loaded before stay while the server cannot be reached.
  if (overview.data && period.data)
    return (
      <Suspense fallback={<OverviewBones />}>
        <Loaded overview={overview.data} period={period.data} />
      </Suspense>
    )
  const failed = overview.isError ? overview : period.isError ? period : undefined
  if (failed)
    return <FailureState title={words.overview.failed} error={failed.error} onRetry={() => void failed.refetch()} />
  return <OverviewBones />
}

type LoadedProps = { readonly overview: Overview; readonly period: OverviewPeriod }

function Loaded({ overview, period }: LoadedProps) {
  const { now, spend, health, upstreams, sinks, attention, first_steps: firstSteps } = overview
  const traffic = useTrafficByDecision()
  // Steps that were incomplete stay until the page is left, so that a person sees the last tick.
  const [steps, setSteps] = useState(firstSteps)
  if (firstSteps !== null && firstSteps !== steps) setSteps(firstSteps)
  return (
    <div className={styles.page}>
      {steps !== null && !readPreferences().hidesFirstSteps && (
        <FirstSteps facts={firstSteps ?? { ...steps, has_policy: true, has_model: true }} />
      )}
      <Figures now={now} period={period} />
      <div className={styles.wide}>
        <Decisions traffic={traffic} period={period} />
        <Attention items={attention} />
      </div>
      <div className={styles.thirds}>
        <Spend spend={spend} period={period} />
        {period.denied_by && <DeniedBy rules={period.denied_by} />}
        <Health health={health} upstreams={upstreams} sinks={sinks} />
      </div>
    </div>
  )
}
