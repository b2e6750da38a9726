import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMay } from '../../session/session.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, time } from '../../kit/format.ts'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { sinkTones } from '../../kit/sink-tones.ts'
import { words } from '../../words/en.ts'
import { lagOf, nameOf } from './health.ts'
import { useSinks, type Sink } from './queries.ts'
import { CreateSinkDialog } from './sink-dialog.tsx'
import styles from './page.module.css'

export { SinkDrawer } from './sink-drawer.tsx'

const text = words.sinks
const firstKind = 'webhook'

/** The sinks with their state and last error, and the open one beside them. */
export function SinksPage() {
  const { new: newKind } = useSearch({ from: '/sinks' })
  const { sinkId } = useParams({ strict: false })
  const sinks = useSinks()
  const mayWrite = useMay('exports:write')
  const navigate = useNavigate()
  const create = (kind: string | undefined): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, new: kind }) })
  const rows = sinks.data ?? []
  const newButton = (
    <Button
      look="primary"
      icon="plus"
      disabled={!mayWrite}
      title={mayWrite ? undefined : text.mayNotWrite}
      onClick={() => create(firstKind)}
    >
      {text.create}
    </Button>
  )
  return (
    <div className={styles.split} data-open={sinkId !== undefined}>
      <div className={styles.list}>
        <div className={styles.head}>
          <p>{text.purpose}</p>
          {rows.length > 0 && newButton}
        </div>
        {sinks.isPending && <LoadingRows widths={[140, 90, 120, 60]} />}
        {sinks.isError && rows.length === 0 && (
          <FailureState title={text.failed} error={sinks.error} onRetry={() => void sinks.refetch()} />
        )}
        {sinks.isSuccess && rows.length === 0 && (
          <EmptyState title={text.none} actions={newButton}>
            <p>{text.noneText}</p>
            <p>{mayWrite ? text.noneCommand : text.mayNotWrite}</p>
            <CodeBlock code="gatehouse sinks create -f sink.yaml" />
          </EmptyState>
        )}
        {rows.length > 0 && (
          <DataTable label={text.table} rows={rows} columns={columns} idOf={({ id }) => id} selectedId={sinkId} />
        )}
      </div>
      <Outlet />
      {newKind !== undefined && mayWrite && (
        <CreateSinkDialog
          type={newKind}
          onType={create}
          onClose={() => create(undefined)}
          onCreated={(id) => void navigate({ to: '/sinks/$sinkId', params: { sinkId: id }, search: {} })}
        />
      )}
    </div>
  )
}

const columns: readonly DataColumn<Sink>[] = [
  {
    id: 'name',
    name: text.name,
    cell: (sink) => (
      <>
        <Link className={styles.name} to="/sinks/$sinkId" params={{ sinkId: sink.id }} search={{}} title={sink.id}>
          {nameOf(sink)}
        </Link>
        <small className={styles.narrow}>{problemOf(sink)}</small>
      </>
    ),
  },
  { id: 'kind', name: text.kind, priority: 2, cell: ({ type }) => text.kinds[type] ?? type },
  {
    id: 'state',
    name: text.state,
    cell: ({ health: { state } }) => <Badge tone={sinkTones[state]}>{text.states[state]}</Badge>,
  },
  {
    id: 'problem',
    name: text.problem,
    priority: 2,
    cell: (sink) => <span title={problemOf(sink)}>{problemOf(sink)}</span>,
  },
  {
    id: 'backlog',
    name: text.backlog,
    isNumber: true,
    priority: 2,
    cell: ({ health }) => count(health.backlog_events),
  },
  { id: 'lag', name: text.lag, isNumber: true, priority: 3, cell: (sink) => lagOf(sink, Date.now()) },
  {
    id: 'letters',
    name: text.deadLetters,
    isNumber: true,
    priority: 3,
    cell: ({ health }) => count(health.dead_letters),
  },
  {
    id: 'success',
    name: text.lastSuccess,
    priority: 3,
    cell: ({ last_success_at: at }) => (at === null ? words.common.none : time(Date.parse(at))),
  },
]

/** An error that a later delivery has overcome is shown in the sink, not in the list. */
const problemOf = ({ health: { state }, last_error: error }: Sink): string | undefined =>
  state === 'healthy' || state === 'disabled' ? undefined : (error ?? undefined)
