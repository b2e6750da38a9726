import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePolicyNames, type Names } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, dollars } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { nameOr, shortId } from '../../kit/short-id.tsx'
import { words } from '../../words/en.ts'
import { Figures, type Figured } from './figures.tsx'
import { ActivateDialog, RetireDialog, ShadowDialog } from './action-dialogs.tsx'
import {
  useCalibration,
  useComparison,
  useCosts,
  useStartCalibration,
  type Comparison,
  type Costs,
  type Judge,
} from './queries.ts'
import styles from './page.module.css'

const text = words.judges

/** What is known of a judge, and what can be done with it. */
export function JudgeDetails({ judge }: { readonly judge: Judge }) {
  const { calibration, alarms, conditions } = judge
  const policyNames = usePolicyNames(useMay('policies:read'))
  const isFile = judge.defined_in === 'file'
  const [open, setOpen] = useState<Action>()
  const close = (): void => setOpen(undefined)
  return (
    <>
      <Card title={judge.name} note={<Actions judge={judge} onOpen={setOpen} />}>
        <div className={styles.stack}>
          {isFile && <p>{text.fileHint}</p>}
          {alarms.map((alarm) => (
            <Notice key={alarm.kind} tone="warning">
              {alarm.text}
            </Notice>
          ))}
          {calibration === null ? <p>{text.none_calibrated}</p> : <Figures calibration={calibration} />}
        </div>
      </Card>
      {!isFile && (
        <Card title={text.conditions} isFlush>
          <DataTable label={text.conditions} rows={conditions} columns={conditionColumns} idOf={({ kind }) => kind} />
        </Card>
      )}
      {calibration !== null && calibration.disagreements.length > 0 && (
        <Card title={text.disagreements} isFlush>
          <DataTable
            label={text.disagreements}
            rows={calibration.disagreements}
            columns={disagreementColumns(policyNames)}
            idOf={({ policy_id: id }) => id}
          />
        </Card>
      )}
      <CostsCard judgeId={judge.id} />
      <ComparisonCard judgeId={judge.id} />
      {open === 'activate' && <ActivateDialog judge={judge} onClose={close} />}
      {open === 'shadow' && <ShadowDialog judge={judge} onClose={close} />}
      {open === 'retire' && <RetireDialog judge={judge} onClose={close} />}
    </>
  )
}

type Action = 'activate' | 'shadow' | 'retire'

function Actions({ judge, onOpen: setOpen }: { readonly judge: Judge; readonly onOpen: (action: Action) => void }) {
  const mayWrite = useMay('judges:write')
  const mayPublish = useMay('policies:publish')
  const start = useStartCalibration(judge.id)
  const { data: calibration } = useCalibration(judge.id)
  const isRunning = calibration?.status === 'running'
  const isInUse = judge.active_version !== null || judge.shadow !== null
  const isReady = judge.conditions.every(({ met }) => met)
  const needsPublish = mayPublish ? undefined : text.mayNotPublish
  return (
    <span className={styles.actions}>
      {start.isError && <ErrorNotice error={start.error} />}
      <Button
        isSmall
        look={isReady ? 'normal' : 'primary'}
        disabled={!mayWrite || isRunning || start.isPending}
        title={mayWrite ? undefined : text.mayNotWrite}
        onClick={() => start.mutate(undefined)}
      >
        {isRunning ? text.calibrating(calibration.done, calibration.total) : text.calibrate}
      </Button>
      {judge.defined_in === 'organization' && (
        <>
          <Button isSmall disabled={!mayWrite} onClick={() => setOpen('shadow')}>
            {text.shadow}
          </Button>
          <Button
            isSmall
            look={isReady ? 'primary' : 'normal'}
            disabled={!mayPublish}
            title={needsPublish}
            onClick={() => setOpen('activate')}
          >
            {text.activate}
          </Button>
          {isInUse && (
            <Button isSmall disabled={!mayPublish} title={needsPublish} onClick={() => setOpen('retire')}>
              {text.retire}
            </Button>
          )}
        </>
      )}
    </span>
  )
}

const conditionColumns: readonly DataColumn<Judge['conditions'][number]>[] = [
  {
    id: 'met',
    name: text.state,
    cell: ({ met }) => <Badge tone={met ? 'allow' : 'warning'}>{met ? text.met : text.open}</Badge>,
  },
  {
    id: 'message',
    name: text.condition,
    cell: ({ message }) => <span className={styles.message}>{message}</span>,
  },
]

const disagreementColumns = (names: Names): readonly DataColumn<Figured['disagreements'][number]>[] => [
  {
    id: 'policy',
    name: text.policy,
    cell: ({ policy_id: policyId }) => (
      <Link to="/policies/$policyId/cases" params={{ policyId }} title={text.openCases}>
        {nameOr(names, policyId)}
      </Link>
    ),
  },
  { id: 'count', name: text.count, cell: ({ count: wrong, labels }) => text.ofAll(wrong, labels) },
]

function CostsCard({ judgeId }: { readonly judgeId: string }) {
  const { data: costs } = useCosts(judgeId)
  const names = usePolicyNames(useMay('policies:read'))
  if (costs === undefined) return null
  return (
    <Card title={text.costs} note={dollars(costs.total.usd)} isFlush={costs.policies.length > 0}>
      {costs.policies.length === 0 ? (
        <p>{text.noCosts}</p>
      ) : (
        <DataTable
          label={text.costs}
          rows={costs.policies}
          columns={costColumns(names)}
          idOf={({ policy_id: id }) => id ?? 'other'}
        />
      )}
    </Card>
  )
}

const costColumns = (names: Names): readonly DataColumn<Costs['policies'][number]>[] => [
  {
    id: 'policy',
    name: text.policy,
    cell: ({ policy_id: policyId }) =>
      policyId === null ? (
        text.otherTexts
      ) : (
        <Link to="/policies/$policyId" params={{ policyId }} title={policyId}>
          {nameOr(names, policyId)}
        </Link>
      ),
  },
  { id: 'asked', name: text.asked, isNumber: true, cell: ({ asked }) => count(asked) },
  { id: 'remembered', name: text.remembered, isNumber: true, priority: 3, cell: ({ remembered }) => count(remembered) },
  { id: 'skipped', name: text.skipped, isNumber: true, priority: 2, cell: ({ skipped }) => count(skipped) },
  { id: 'failed', name: text.failedAnswers, isNumber: true, priority: 2, cell: ({ failed }) => count(failed) },
  { id: 'usd', name: text.usd, isNumber: true, cell: ({ usd }) => dollars(usd) },
]

function ComparisonCard({ judgeId }: { readonly judgeId: string }) {
  const { data: comparison } = useComparison(judgeId)
  if (comparison === undefined || comparison.version === null) return null
  const { compared, differed, differences } = comparison
  return (
    <Card title={text.comparison} note={text.comparisonText(compared, differed)} isFlush>
      {differences.length > 0 && (
        <DataTable label={text.comparison} rows={differences} columns={differenceColumns} idOf={({ id }) => id} />
      )}
    </Card>
  )
}

const scoreOf = (basisPoints: number): string => (basisPoints / 10_000).toFixed(2)

const differenceColumns: readonly DataColumn<Comparison['differences'][number]>[] = [
  {
    id: 'event',
    name: text.event,
    cell: ({ request_id: requestId }) => (
      <Link to="/requests/$requestId" params={{ requestId }} title={requestId}>
        {shortId(requestId)}
      </Link>
    ),
  },
  { id: 'active', name: text.active, isNumber: true, cell: ({ active_bp: score }) => scoreOf(score) },
  { id: 'shadow', name: text.ofShadow, isNumber: true, cell: ({ shadow_bp: score }) => scoreOf(score) },
]
