import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, percent } from '../../kit/format.ts'
import type { Series } from '../../kit/series.ts'
import { Legend, StackedBars, TimeAxis } from '../../kit/stacked-bars.tsx'
import { sumOfBars } from '../../kit/decision-bars.ts'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useDecisions, type DecisionHour } from './queries.ts'
import { barsOf, ratesSince, shareOf, type Rate } from './rollout.ts'
import { RolloutShare } from './rollout-share.tsx'
import { RolloutDialog } from './rollout-dialog.tsx'
import { usePolicyDraft } from './use-draft.ts'
import tab from './history-tab.module.css'
import styles from './rollout-tab.module.css'

const text = words.policy.rollout

/** How a policy goes from monitoring to enforcing: what it matched so far, and the step itself. */
export function RolloutTab() {
  const { policy } = usePolicyDraft()
  const query = useDecisions(policy.id)
  if (query.isPending) return <LoadingRows widths={[160, 80, 120]} rows={4} />
  if (query.data === undefined)
    return <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
  return (
    <div className={tab.tab}>
      <Stage hours={query.data.data} />
      {policy.published?.mode === 'enforcing' && <RolloutShare policy={policy} />}
      <Matches hours={query.data.data} />
    </div>
  )
}

const daySeconds = 86_400

/** Where the policy is, in a sentence with figures, and the button of the next step. */
function Stage({ hours }: { readonly hours: readonly DecisionHour[] }) {
  const [isOpen, setOpen] = useState(false)
  const { policy, isChanged } = usePolicyDraft()
  const mayPublish = useMay('policies:publish')
  const mayWrite = useMay('policies:write')
  const { published, has_unpublished_changes: isDrafted } = policy
  const isMonitoring = published?.mode === 'monitoring'
  const target = isMonitoring ? 'enforcing' : 'monitoring'
  const obstacle = obstacleOf({ mayChange: mayPublish && mayWrite, isChanged, isDrafted })
  if (published === null) return <Card title={text.stage}>{text.notPublished}</Card>
  const now = Date.now() / 1_000
  const ofVersion = hours.filter(({ version }) => version === published.version)
  const week = ratesSince(ofVersion, now - 7 * daySeconds)
  return (
    <Card title={text.stage} note={words.policy.version(published.version)}>
      <ol className={styles.stages} aria-label={text.stage}>
        {(['monitoring', 'enforcing'] as const).map((mode) => (
          <li key={mode} aria-current={published.mode === mode ? 'step' : undefined}>
            <strong>{words.policies.states[mode]}</strong>
            <span>{words.policy.effects[mode]}</span>
          </li>
        ))}
      </ol>
      {policy.state === 'paused' && <p className={styles.note}>{text.paused}</p>}
      <p className={styles.sentence}>
        {isMonitoring ? sentence(week.monitoring, text.wouldDeny) : sentence(week.enforcing, text.denied)}
      </p>
      <div className={styles.actions}>
        <Link to="/policies/$policyId/activity" params={{ policyId: policy.id }}>
          {text.seeRequests}
        </Link>
        <Button
          look={isMonitoring ? 'primary' : 'normal'}
          disabled={obstacle !== undefined}
          title={obstacle}
          onClick={() => setOpen(true)}
        >
          {text.go[target]}
        </Button>
      </div>
      {obstacle !== undefined && <p className={styles.note}>{obstacle}</p>}
      {isOpen && <RolloutDialog policy={policy} published={published} mode={target} onClose={() => setOpen(false)} />}
    </Card>
  )
}

type Obstacles = { readonly mayChange: boolean; readonly isChanged: boolean; readonly isDrafted: boolean }

/** The step publishes the content that is in force, so a draft with other changes must not be lost or published with it. */
function obstacleOf({ mayChange, isChanged, isDrafted }: Obstacles): string | undefined {
  if (!mayChange) return text.mayNot
  return isChanged || isDrafted ? text.hasDraft : undefined
}

function sentence(rate: Rate, say: (matches: string, requests: string, share: string) => string): string {
  const share = shareOf(rate)
  return share === undefined ? text.noRequests : say(count(rate.matches), count(rate.requests), percent(share))
}

const series: readonly Series[] = [
  { id: 'denied', name: words.traffic.denied, tone: 'deny' },
  { id: 'monitored', name: words.traffic.monitored, tone: 'monitor' },
]

const shownHours = 48

/** Matches by the hour, and by version. Both modes stand beside one another if there were both. */
function Matches({ hours }: { readonly hours: readonly DecisionHour[] }) {
  const [active, setActive] = useState<number>()
  const bars = barsOf(hours, shownHours, Date.now())
  const versions = [...Map.groupBy(hours, ({ version }) => version)].toSorted(([a], [b]) => b - a)
  return (
    <>
      <Card title={text.matches} note={text.matchesNote}>
        <StackedBars
          label={text.matches}
          bars={bars}
          series={series}
          height={96}
          active={active}
          onActive={setActive}
        />
        <TimeAxis bars={bars} />
        <Legend series={series} sums={sumOfBars(active === undefined ? bars : bars.slice(active, active + 1))} />
      </Card>
      {versions.length > 0 && (
        <Card isFlush title={text.byVersion} note={text.byVersionNote}>
          <DataTable
            label={text.byVersion}
            rows={versions.flatMap(([version, ofVersion]) => rowsOf(version, ofVersion))}
            columns={columns}
            idOf={({ version, mode }) => `${version} ${mode}`}
          />
        </Card>
      )}
    </>
  )
}

type ArmRow = {
  readonly version: number
  readonly mode: 'monitoring' | 'enforcing'
  readonly day: Rate
  readonly week: Rate
}

function rowsOf(version: number, hours: readonly DecisionHour[]): ArmRow[] {
  const now = Date.now() / 1_000
  const [day, week] = [ratesSince(hours, now - daySeconds), ratesSince(hours, now - 7 * daySeconds)]
  return (['enforcing', 'monitoring'] as const)
    .map((mode) => ({ version, mode, day: day[mode], week: week[mode] }))
    .filter((row) => row.week.requests > 0)
}

const rateCell = (rate: Rate) => {
  const share = shareOf(rate)
  return share === undefined ? words.common.none : `${count(rate.matches)} (${percent(share)})`
}

const columns: readonly DataColumn<ArmRow>[] = [
  { id: 'version', name: words.policy.versionColumn, cell: ({ version }) => words.policy.version(version) },
  { id: 'mode', name: words.policy.mode, cell: ({ mode }) => words.policies.states[mode] },
  { id: 'requests', name: text.requests, isNumber: true, priority: 2, cell: ({ week }) => count(week.requests) },
  { id: 'day', name: text.day, isNumber: true, cell: ({ day }) => rateCell(day) },
  { id: 'week', name: text.week, isNumber: true, cell: ({ week }) => rateCell(week) },
]
