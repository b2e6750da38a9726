import { lazy, Suspense } from 'react'
import { readPreferences } from '../../session/preferences.ts'
import { useTrafficByDecision } from '../../session/traffic.ts'
import { words } from '../../words/en.ts'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { Attention } from './attention.tsx'
import { Decisions } from './decisions.tsx'
import { Figures } from './figures.tsx'
import { Health } from './health.tsx'
import { useOverview } from '../../session/overview.ts'
import { Spend } from './spend.tsx'
import styles from './page.module.css'

/** Loaded apart, because most visits do not show them. */
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }))

/** How the service does now, what it decided, and what needs somebody's attention. */
export function OverviewPage() {
  const overview = useOverview()
  const traffic = useTrafficByDecision()
  if (overview.isPending) return <LoadingRows widths={[120, 120, 120, 120]} rows={6} />
  if (overview.isError)
    return <FailureState title={words.overview.failed} error={overview.error} onRetry={() => void overview.refetch()} />
  const { now, spend, health, attention } = overview.data
  return (
    <div className={styles.page}>
      {!readPreferences().hidesFirstSteps && (
        <Suspense>
          <FirstSteps />
        </Suspense>
      )}
      <Figures now={now} traffic={traffic.data} />
      <div className={styles.wide}>
        <Decisions traffic={traffic} />
        <Attention items={attention} />
      </div>
      <div className={styles.half}>
        <Spend spend={spend} />
        <Health parts={health} />
      </div>
    </div>
  )
}
