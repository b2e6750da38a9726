import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Author } from '../../session/author.tsx'
import { useMay, useMe } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { limitsOf, sectionNames } from './gate-settings.ts'
import { GateSettingsDialog } from './gate-settings-dialog.tsx'
import { useApprove, useGate, useLatestRun, useStartRun, type GateCheck, type GateRun } from './gate-queries.ts'
import { usePolicyDraft } from './use-draft.ts'
import tab from './history-tab.module.css'
import styles from './gate-tab.module.css'

const text = words.gate

/** Whether the draft may be published: the newest run of the gate, and what the gate asks. */
export function GateTab() {
  return (
    <div className={tab.tab}>
      <LatestRun />
      <Settings />
    </div>
  )
}

function LatestRun() {
  const { policy, isChanged } = usePolicyDraft()
  const query = useLatestRun(policy.id)
  const start = useStartRun(policy.id)
  const mayWrite = useMay('policies:write')
  const run = query.data ?? undefined
  const obstacle = !mayWrite ? text.mayNotRun : isChanged ? text.saveFirst : undefined
  const isRunning = start.isPending || run?.state === 'running'
  return (
    <Card
      isFlush
      title={text.title}
      note={
        <span className={styles.actions}>
          {run && <ApproveButton run={run} />}
          <Button
            isSmall
            look="primary"
            disabled={obstacle !== undefined || isRunning}
            title={obstacle}
            onClick={() => start.mutate(policy.revision)}
          >
            {isRunning ? text.running : text.run}
          </Button>
        </span>
      }
    >
      {query.isPending && <LoadingRows widths={[120, 80, 80, 320]} rows={3} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.data === null && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
        </EmptyState>
      )}
      {run && <RunResult run={run} policyId={policy.id} />}
      {start.isError && <ErrorNotice error={start.error} />}
    </Card>
  )
}

function ApproveButton({ run }: { readonly run: GateRun }) {
  const approve = useApprove(run.policy_id)
  const mayPublish = useMay('policies:publish')
  const { actor } = useMe()
  const isAsked = run.checks.some(({ kind, state }) => kind === 'approvals' && state !== 'passed')
  const hasApproved = run.approvals.some(({ by }) => by === actor.id)
  if (!mayPublish || !isAsked || run.stale || hasApproved) return null
  const isOwn = run.author === actor.id
  return (
    <>
      {approve.isError && <ErrorNotice error={approve.error} />}
      <Button
        isSmall
        disabled={isOwn || approve.isPending}
        title={isOwn ? text.ownDraft : undefined}
        onClick={() => approve.mutate(run.id)}
      >
        {text.approve}
      </Button>
    </>
  )
}

const runTones: Readonly<Record<GateRun['state'], Tone>> = {
  running: 'none',
  passed: 'allow',
  warned: 'warning',
  failed: 'deny',
  insufficient: 'deny',
}

function RunResult({ run, policyId }: { readonly run: GateRun; readonly policyId: string }) {
  return (
    <>
      <div className={styles.summary} role="status">
        <Badge tone={run.stale ? 'none' : runTones[run.state]}>{text.runStates[run.state]}</Badge>
        <span>
          {text.runOf(run.revision)} <Author id={run.created_by} />
        </span>
        {run.approvals.map(({ by }) => (
          <span key={by}>
            {text.approvedBy} <Author id={by} />
          </span>
        ))}
      </div>
      {run.stale && <Notice tone="warning">{text.stale}</Notice>}
      {run.checks.length === 0 ? (
        <p className={styles.summary}>{text.noChecks}</p>
      ) : (
        <DataTable label={text.checks} rows={run.checks} columns={columnsOf(policyId)} idOf={({ kind }) => kind} />
      )}
    </>
  )
}

const stateTones: Readonly<Record<GateCheck['state'], Tone>> = {
  passed: 'allow',
  failed: 'deny',
  running: 'none',
  insufficient: 'warning',
  not_run: 'warning',
}

const toneOf = ({ state, level }: GateCheck): Tone =>
  state === 'failed' && level === 'warn' ? 'warning' : stateTones[state]

const columnsOf = (policyId: string): readonly DataColumn<GateCheck>[] => [
  { id: 'kind', name: text.check, cell: ({ kind }) => text.kinds[kind] },
  { id: 'level', name: text.level, priority: 2, cell: ({ level }) => text.levels[level] },
  {
    id: 'result',
    name: text.result,
    cell: (check) => (
      <span className={styles.result}>
        <Badge tone={toneOf(check)}>{text.checkStates[check.state]}</Badge>
        <span>{check.message}</span>
      </span>
    ),
  },
  {
    id: 'examples',
    name: text.examples,
    priority: 3,
    cell: ({ examples }) => (examples.length === 0 ? words.common.none : <Examples ids={examples} of={policyId} />),
  },
]

const shownExamples = 3

const Examples = ({ ids, of: policyId }: { readonly ids: readonly string[]; readonly of: string }) => (
  <span className={styles.examples}>
    {ids.slice(0, shownExamples).map((id, at) =>
      id.startsWith('case_') ? (
        <Link key={id} to="/policies/$policyId/cases" params={{ policyId }} title={id}>
          {text.caseExample(at + 1)}
        </Link>
      ) : (
        <Link key={id} to="/audit/$eventId" params={{ eventId: id }} title={id}>
          {text.eventExample(at + 1)}
        </Link>
      ),
    )}
  </span>
)

/** The settings that count for the policy, in a sentence each. */
function Settings() {
  const { policy } = usePolicyDraft()
  const [isOpen, setOpen] = useState(false)
  const mayOverride = useMay('policies:override')
  const query = useGate(policy.id)
  if (query.isPending) return <LoadingRows widths={[160, 320]} rows={4} />
  if (query.data === undefined)
    return <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
  const { effective } = query.data
  return (
    <Card
      title={text.asks}
      note={
        mayOverride && (
          <Button isSmall onClick={() => setOpen(true)}>
            {text.ofPolicy}
          </Button>
        )
      }
    >
      <dl className={styles.settings}>
        {sectionNames.map((section) => (
          <div key={section}>
            <dt>{text.sections[section]}</dt>
            <dd>
              <strong>{text.levels[effective[section].level]}</strong> {text.sectionHints[section]}
              <span className={styles.limits}>{limitsOf(effective[section]).join(', ')}</span>
            </dd>
          </div>
        ))}
      </dl>
      {isOpen && <GateSettingsDialog policyId={policy.id} gate={query.data} onClose={() => setOpen(false)} />}
    </Card>
  )
}
