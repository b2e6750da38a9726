import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { percent } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { JudgeDetails } from './details.tsx'
import { NewJudgeDialog } from './new-judge-dialog.tsx'
import { useJudges, type Judge } from './queries.ts'
import styles from './page.module.css'

const text = words.judges

/** The judges with how well each agrees with people, and the figures of one of them. */
export function JudgesPage() {
  const { judge: openId, add } = useSearch({ from: '/judges' })
  const navigate = useNavigate({ from: '/judges' })
  const mayWrite = useMay('judges:write')
  const { data: judges, isPending, isError, error, refetch } = useJudges()
  const shown =
    judges?.find(({ id }) => id === openId) ?? judges?.find(({ state }) => state === 'active') ?? judges?.[0]
  const open = (judge: string | undefined): void => void navigate({ search: { judge } })
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <p className={styles.purpose}>{text.purpose}</p>
        <Button
          look="primary"
          icon="plus"
          disabled={!mayWrite}
          title={mayWrite ? undefined : text.mayNotWrite}
          onClick={() => void navigate({ search: { judge: openId, add: true } })}
        >
          {text.add}
        </Button>
      </div>
      {isPending && <LoadingRows widths={[160, 160, 80, 120]} />}
      {isError && <FailureState title={text.failed} error={error} onRetry={() => void refetch()} />}
      {judges?.length === 0 && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
          <CodeBlock code={text.noneCommand} />
        </EmptyState>
      )}
      {judges && judges.length > 0 && (
        <Card title={words.pages.judges} isFlush>
          <DataTable
            label={words.pages.judges}
            rows={judges}
            columns={columns}
            idOf={({ id }) => id}
            selectedId={shown?.id}
          />
        </Card>
      )}
      {shown && <JudgeDetails key={shown.id} judge={shown} />}
      {add && mayWrite && <NewJudgeDialog onCreated={open} onClose={() => open(openId)} />}
    </div>
  )
}

const tones: Readonly<Record<Judge['state'], Tone>> = {
  draft: 'none',
  calibrated: 'monitor',
  active: 'allow',
  shadow: 'monitor',
  retired: 'none',
}

const columns: readonly DataColumn<Judge>[] = [
  {
    id: 'name',
    name: text.name,
    cell: ({ id, name }) => (
      <Link to="/judges" search={{ judge: id }} className={styles.name} title={id}>
        {name}
      </Link>
    ),
  },
  { id: 'state', name: text.state, cell: ({ state }) => <Badge tone={tones[state]}>{text.states[state]}</Badge> },
  { id: 'model', name: text.model, priority: 2, cell: ({ model }) => model },
  {
    id: 'version',
    name: text.version,
    priority: 3,
    cell: ({ version }) => (version === 0 ? words.common.none : words.policy.version(version)),
  },
  { id: 'kappa', name: text.kappa, priority: 2, cell: kappaCell },
  {
    id: 'alarms',
    name: text.alarms,
    priority: 2,
    cell: ({ alarms }) =>
      alarms.length === 0 ? words.common.none : <Badge tone="warning">{String(alarms.length)}</Badge>,
  },
]

/** Kappa is read by the base rate, so it never stands without it. */
function kappaCell({ calibration }: Judge) {
  if (calibration === null) return text.notCalibrated
  const { kappa, base_rate_bp: rate, labels } = calibration
  if (labels === 0) return text.noAnswers
  return text.kappaOf(kappa === null ? words.common.none : kappa.toFixed(2), percent(rate / 10_000))
}
