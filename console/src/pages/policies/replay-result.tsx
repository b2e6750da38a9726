import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProjectNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count } from '../../kit/format.ts'
import { ShortId } from '../../kit/short-id.tsx'
import { words } from '../../words/en.ts'
import { useRequestTotal, type Backtest } from './queries.ts'
import type { BacktestResult } from './threshold-curve.ts'
import styles from './replay-tab.module.css'

const text = words.policy.replay

type ResultProps = {
  readonly backtest: Backtest
  readonly result: BacktestResult
  /** Between the sentence and the tables. */
  readonly children: ReactNode
}
type CoverageProps = { readonly backtest: Backtest; readonly coverage: BacktestResult['coverage'] }

/** How many requests the range has, and why some of them were not replayed. */
function Coverage({ backtest: { from, to, limit, sample_percent: percent }, coverage }: CoverageProps) {
  const { events, sampled, with_text: replayed, from_sample: fromSample } = coverage
  const isLimited = events >= limit
  const isPart = isLimited || fromSample > 0
  const mayCount = useMay('audit:read')
  const total = useRequestTotal({ from, to }, isPart && mayCount)
  const sentences = [
    ...(isPart
      ? total
        ? [text.inRange(count(total.total), total.isExact)]
        : []
      : [text.inRange(count(events), true)]),
    ...(isLimited ? [text.limited(count(events))] : []),
    ...(sampled < events ? [text.sampled(count(sampled), count(percent))] : []),
    ...(fromSample > 0 ? [text.fromSample(count(fromSample))] : []),
    ...(replayed < sampled ? [text.withoutTexts(count(sampled - replayed))] : []),
  ]
  return <p className={styles.note}>{sentences.join(' ')}</p>
}

type ProjectCounts = BacktestResult['projects'][number]
type Example = BacktestResult['example_requests'][number]

/** What the draft would have changed: a sentence, the counts of each project, and requests to look at. */
export function ReplayResult({ backtest, result, children }: ResultProps) {
  const projects = useProjectNames()
  const { coverage, newly_blocked: denied, newly_allowed: allowed, example_requests: examples } = result
  const nameOf = (id: string | null): string => (id === null ? words.common.none : (projects.get(id) ?? id))
  const project = <Row extends { readonly project_id: string | null }>(): DataColumn<Row> => ({
    id: 'project',
    name: words.policy.project,
    cell: ({ project_id: id }) => nameOf(id),
  })
  return (
    <>
      <Card title={text.result} note={text.draftOf(backtest.revision)}>
        <p className={styles.summary}>
          {text.sentence({ replayed: count(coverage.with_text), denied: count(denied), allowed: count(allowed) })}
        </p>
        <Coverage backtest={backtest} coverage={coverage} />
        {coverage.redacted_only > 0 && <p className={styles.note}>{text.redacted(count(coverage.redacted_only))}</p>}
      </Card>
      {children}
      {result.projects.length > 0 && (
        <Card isFlush title={text.byProject}>
          <DataTable
            label={text.byProject}
            rows={result.projects}
            columns={[project<ProjectCounts>(), ...countColumns]}
            idOf={({ project_id: id }) => id ?? ''}
          />
        </Card>
      )}
      {examples.length > 0 && (
        <Card isFlush title={text.examples} note={text.examplesNote}>
          <DataTable
            label={text.examples}
            rows={examples}
            columns={[...exampleColumns, { ...project<Example>(), priority: 2 }]}
            idOf={({ event_id: id }) => id}
          />
        </Card>
      )}
    </>
  )
}

const changes = ['newly_blocked', 'newly_allowed', 'changed_reason', 'unchanged', 'not_evaluated'] as const

const countColumns = changes.map((change, at): DataColumn<ProjectCounts> => ({
  id: change,
  name: text.changes[change],
  isNumber: true,
  priority: at < 2 ? 1 : 2,
  cell: (row) => count(row[change]),
}))

const exampleColumns: readonly DataColumn<Example>[] = [
  { id: 'request', name: text.request, cell: (example) => <RequestLink example={example} /> },
  { id: 'change', name: text.change, cell: ({ change }) => text.changes[change] },
  { id: 'score', name: text.score, isNumber: true, cell: ({ score_basis_points: score }) => count(score) },
]

function RequestLink({ example }: { readonly example: Example }) {
  const mayRead = useMay('audit:read')
  const { request_id: id, event_id: eventId } = example
  if (id === null) return <ShortId id={eventId} />
  if (!mayRead) return <ShortId id={id} />
  return (
    <Link to="/requests/$requestId" params={{ requestId: id }} title={id}>
      <code>{`${id.slice(0, 9)}…${id.slice(-6)}`}</code>
    </Link>
  )
}
