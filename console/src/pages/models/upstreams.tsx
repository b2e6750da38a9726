import { Link } from '@tanstack/react-router'
import { useMay, useMe } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, milliseconds, time } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { DefinedIn } from './defined-in.tsx'
import { ProbeDialog } from './probe-dialog.tsx'
import { useUpstreams, type Upstream } from './queries.ts'
import styles from './page.module.css'

const text = words.models

const tones: Record<Upstream['state'], Tone> = { ok: 'allow', failing: 'warning', resting: 'error', unknown: 'none' }

/** The upstreams with their state on the node that answers. */
export function Upstreams({ probed, onClose }: { readonly probed: string | undefined; readonly onClose: () => void }) {
  const mayRead = useMay('system:read')
  const mayProbe = useMay('system:probe')
  const { features } = useMe()
  const isShown = mayRead && features.system
  const { data: list, isPending, isError, error, refetch } = useUpstreams(isShown)
  if (!isShown) return <Notice tone="none">{features.system ? text.mayNotRead : text.operatorOnly}</Notice>
  if (isPending) return <LoadingRows widths={[140, 90, 80, 60]} rows={3} />
  if (isError && list === undefined)
    return <FailureState title={text.upstreamsFailed} error={error} onRetry={() => void refetch()} />
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
          columns={columnsFor(mayProbe)}
          idOf={({ name }) => name}
        />
      </Card>
      {upstream && mayProbe && <ProbeDialog key={upstream.name} upstream={upstream} onClose={onClose} />}
    </>
  )
}

const columnsFor = (mayProbe: boolean): readonly DataColumn<Upstream>[] => [
  { id: 'name', name: text.upstream, cell: ({ name }) => <span className={styles.name}>{name}</span> },
  { id: 'kind', name: text.kind, priority: 3, cell: ({ kind }) => kind },
  {
    id: 'state',
    name: text.state,
    cell: ({ state, rest_until: restUntil }) => (
      <Badge tone={tones[state]} title={restUntil === null ? undefined : text.restsUntil(time(restUntil * 1_000))}>
        {text.states[state]}
      </Badge>
    ),
  },
  { id: 'failures', name: text.failures, isNumber: true, priority: 2, cell: ({ failures }) => count(failures) },
  {
    id: 'flight',
    name: text.inFlight,
    isNumber: true,
    priority: 2,
    cell: ({ in_flight: calls, max_concurrent: most }) => text.ofMost(count(calls), count(most)),
  },
  {
    id: 'p95',
    name: text.p95,
    isNumber: true,
    cell: ({ p95_ms: p95 }) => <span title={text.p95Hint}>{milliseconds(p95)}</span>,
  },
  {
    id: 'success',
    name: text.lastSuccess,
    priority: 3,
    cell: ({ last_success_at: at }) => (at === null ? words.common.none : time(at * 1_000)),
  },
  {
    id: 'error',
    name: text.lastError,
    priority: 2,
    cell: ({ last_error: error }) =>
      error === null ? (
        words.common.none
      ) : (
        <>
          <code>{error.code}</code> {time(error.at * 1_000)}
        </>
      ),
  },
  { id: 'defined', name: text.definedIn, priority: 3, cell: (upstream) => <DefinedIn at={upstream.defined_in} /> },
  {
    id: 'probe',
    name: text.probe,
    cell: ({ name }) =>
      mayProbe ? (
        <Link to="/models" search={{ probe: name }} aria-label={text.probeOf(name)}>
          {text.probe}
        </Link>
      ) : (
        <span className={styles.quiet} title={text.mayNotProbe}>
          {words.common.none}
        </span>
      ),
  },
]
