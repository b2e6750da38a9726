import { Link, useNavigate } from '@tanstack/react-router'
import { useMay } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, milliseconds, time } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { EntryActions, type OwnEntry } from './entry-actions.tsx'
import { Origin } from './origin.tsx'
import { ProbeDialog } from './probe-dialog.tsx'
import { useUpstreamList, type Upstream } from './queries.ts'
import styles from './page.module.css'

const text = words.models

const tones: Record<Upstream['state'], Tone> = { ok: 'allow', failing: 'warning', resting: 'error', unknown: 'none' }

type Act = (act: { readonly act: 'pause' | 'delete'; readonly entry: OwnEntry }) => void

type UpstreamsProps = {
  readonly probed: string | undefined
  readonly onClose: () => void
  readonly onAct: Act
}

/** The upstreams with their state on the node that answers. */
export function Upstreams({ probed, onClose, onAct }: UpstreamsProps) {
  const mayProbe = useMay('system:probe')
  const mayWrite = useMay('models:write')
  const { list, isShown, isPending, isError, error, refetch, hidden } = useUpstreamList()
  if (!isShown) return <Notice tone="none">{hidden === 'operator' ? text.operatorOnly : text.mayNotRead}</Notice>
  if (isPending) return <LoadingRows widths={[140, 90, 80, 60]} rows={3} />
  if (isError && list === undefined)
    return <FailureState title={text.upstreamsFailed} error={error} onRetry={() => void refetch()} />
  const maySend = ({ id }: Upstream): boolean => mayProbe || (mayWrite && id !== null)
  const upstream = list?.data.find(({ name }) => name === probed)
  return (
    <>
      <Card
        title={text.upstreams}
        note={list?.node && <span title={list.node.id}>{text.seenBy(list.node.host)}</span>}
        isFlush
      >
        <DataTable
          label={text.upstreams}
          rows={list?.data ?? []}
          columns={[...columns, actionColumn({ maySend, mayWrite, onAct })]}
          idOf={({ name, id }) => id ?? name}
        />
      </Card>
      {upstream && maySend(upstream) && <ProbeDialog key={upstream.name} upstream={upstream} onClose={onClose} />}
    </>
  )
}

const columns: readonly DataColumn<Upstream>[] = [
  {
    id: 'name',
    name: text.upstream,
    cell: ({ name, kind }) => (
      <span className={styles.entry}>
        <span className={styles.name} title={name}>
          {name}
        </span>
        <span className={styles.kind}>{kind}</span>
      </span>
    ),
  },
  {
    id: 'state',
    name: text.state,
    cell: ({ state, paused, rest_until: restUntil }) =>
      paused ? (
        <Badge tone="warning">{text.paused}</Badge>
      ) : (
        <Badge tone={tones[state]} title={restUntil === null ? undefined : text.restsUntil(time(restUntil * 1_000))}>
          {text.states[state]}
        </Badge>
      ),
  },
  {
    id: 'p95',
    name: text.p95,
    isNumber: true,
    priority: 2,
    cell: ({ p95_ms: p95 }) => <span title={text.p95Hint}>{milliseconds(p95)}</span>,
  },
  {
    id: 'flight',
    name: text.inFlight,
    isNumber: true,
    priority: 2,
    cell: ({ in_flight: calls, max_concurrent: most }) => text.ofMost(count(calls), count(most)),
  },
  {
    id: 'error',
    name: text.lastError,
    priority: 2,
    cell: ({ last_error: error, failures }) =>
      error === null ? (
        words.common.none
      ) : (
        <span title={`${text.failures}: ${count(failures)}`}>
          <code>{error.code}</code> {time(error.at * 1_000)}
        </span>
      ),
  },
  {
    id: 'success',
    name: text.lastSuccess,
    priority: 3,
    cell: ({ last_success_at: at }) => (at === null ? words.common.none : time(at * 1_000)),
  },
  { id: 'defined', name: text.managed, priority: 2, cell: (upstream) => <Origin entry={upstream} /> },
]

type ActionParts = {
  readonly maySend: (upstream: Upstream) => boolean
  readonly mayWrite: boolean
  readonly onAct: Act
}

const actionColumn = (parts: ActionParts): DataColumn<Upstream> => ({
  id: 'actions',
  name: text.actions,
  cell: (upstream) => <UpstreamActions upstream={upstream} {...parts} />,
})

function UpstreamActions({ upstream, maySend, mayWrite, onAct }: ActionParts & { readonly upstream: Upstream }) {
  const navigate = useNavigate({ from: '/models' })
  const { id, name, paused } = upstream
  return (
    <span className={styles.actions}>
      {maySend(upstream) ? (
        <Link to="/models" search={{ probe: name }} aria-label={text.probeOf(name)}>
          {text.probe}
        </Link>
      ) : (
        <span className={styles.quiet} title={text.mayNotProbe}>
          {words.common.none}
        </span>
      )}
      {mayWrite && id !== null && (
        <EntryActions
          entry={{ what: 'upstream', id, name, paused }}
          onEdit={() => void navigate({ search: { edit: id } })}
          onAct={(act) => onAct({ act, entry: { what: 'upstream', id, name, paused } })}
        />
      )}
    </span>
  )
}
