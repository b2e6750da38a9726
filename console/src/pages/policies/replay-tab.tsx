import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMay, useMe } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, day, fullTime, time } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useBacktests, useCancelBacktest, type Backtest } from './queries.ts'
import { ReplayForm } from './replay-form.tsx'
import { ReplayResult } from './replay-result.tsx'
import type { ReplaySearch } from './search.ts'
import { ThresholdChart } from './threshold-chart.tsx'
import { usePolicyDraft } from './use-draft.ts'
import tab from './history-tab.module.css'
import styles from './replay-tab.module.css'

const text = words.policy.replay

/** The draft on recorded requests: what it would have changed, and what another threshold would. */
export function ReplayTab() {
  const { policy } = usePolicyDraft()
  const { features } = useMe()
  const mayReadTexts = useMay('content:read')
  const query = useBacktests(policy.id)
  const search: ReplaySearch = useSearch({ from: '/policies/$policyId/replay' })
  const navigate = useNavigate()
  const set = (changed: ReplaySearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const backtests = query.data?.data ?? []
  const shown = backtests.find(({ id }) => id === search.backtest) ?? backtests[0]
  return (
    <div className={tab.tab}>
      {!features.replay && <Notice tone="warning">{text.noTexts}</Notice>}
      {!mayReadTexts && <Notice tone="none">{text.mayNotRead}</Notice>}
      <ReplayForm policy={policy} onStarted={({ id }) => set({ backtest: id, threshold: undefined })} />
      {query.isPending && <LoadingRows widths={[160, 80, 120]} rows={3} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && shown === undefined && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
        </EmptyState>
      )}
      {shown !== undefined && (
        <>
          <Shown backtest={shown} threshold={search.threshold} onThreshold={(threshold) => set({ threshold })} />
          {backtests.length > 1 && (
            <Earlier
              backtests={backtests}
              shownId={shown.id}
              onOpen={(id) => set({ backtest: id, threshold: undefined })}
            />
          )}
        </>
      )}
    </div>
  )
}

type ShownProps = {
  readonly backtest: Backtest
  readonly threshold: number | undefined
  readonly onThreshold: (threshold: number) => void
}

function Shown({ backtest, threshold, onThreshold }: ShownProps) {
  const { result } = backtest
  if (backtest.status === 'running') return <Progress backtest={backtest} />
  if (result === null)
    return <Notice tone={backtest.status === 'failed' ? 'error' : 'none'}>{backtest.error ?? text.cancelled}</Notice>
  return (
    <ReplayResult backtest={backtest} result={result}>
      {result.scores.length > 0 && <ThresholdChart result={result} threshold={threshold} onChange={onThreshold} />}
    </ReplayResult>
  )
}

function Progress({ backtest }: { readonly backtest: Backtest }) {
  const { done, total } = backtest.progress
  const mayWrite = useMay('policies:write')
  const cancel = useCancelBacktest(backtest.policy_id)
  const label = text.progress(count(done), count(total))
  return (
    <Card title={text.running} note={label}>
      <div className={styles.progress}>
        <progress aria-label={label} value={done} max={Math.max(1, total)} />
        <Button
          disabled={!mayWrite || cancel.isPending}
          title={mayWrite ? undefined : words.policies.mayNotWrite}
          onClick={() => cancel.mutate(backtest.id)}
        >
          {text.cancel}
        </Button>
      </div>
      {cancel.isError && <ErrorNotice error={cancel.error} />}
    </Card>
  )
}

type EarlierProps = {
  readonly backtests: readonly Backtest[]
  readonly shownId: string
  readonly onOpen: (id: string) => void
}

function Earlier({ backtests, shownId, onOpen }: EarlierProps) {
  const started: DataColumn<Backtest> = {
    id: 'started',
    name: text.started,
    cell: ({ id, created_at: at }) => (
      <button type="button" className={styles.open} title={fullTime(at * 1_000)} onClick={() => onOpen(id)}>
        {time(at * 1_000)}
      </button>
    ),
  }
  return (
    <Card isFlush title={text.earlier}>
      <DataTable
        label={text.earlier}
        rows={backtests}
        columns={[started, ...columns]}
        idOf={({ id }) => id}
        selectedId={shownId}
      />
    </Card>
  )
}

const columns: readonly DataColumn<Backtest>[] = [
  { id: 'status', name: text.status, cell: ({ status }) => text.statuses[status] },
  { id: 'revision', name: text.revision, isNumber: true, priority: 3, cell: ({ revision }) => count(revision) },
  {
    id: 'range',
    name: text.range,
    priority: 2,
    cell: ({ from, to }) => `${day(from * 1_000)} – ${day(to * 1_000)}`,
  },
  {
    id: 'newly_blocked',
    name: text.changes.newly_blocked,
    isNumber: true,
    cell: ({ result }) => count(result?.newly_blocked),
  },
  {
    id: 'newly_allowed',
    name: text.changes.newly_allowed,
    isNumber: true,
    priority: 2,
    cell: ({ result }) => count(result?.newly_allowed),
  },
]
