import { Badge } from '../../kit/badge.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { fullTime, time } from '../../kit/format.ts'
import { EmptyState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { List } from './list.tsx'
import { useAlerts, type Alert } from './queries.ts'
import styles from './page.module.css'

const text = words.alerts

/** What was sent in the last 90 days. */
export function History() {
  return (
    <List
      label={text.tabs.history}
      query={useAlerts()}
      columns={columns}
      empty={
        <EmptyState title={text.noAlerts}>
          <p>{text.noAlertsText}</p>
        </EmptyState>
      }
    />
  )
}

const columns: readonly DataColumn<Alert>[] = [
  {
    id: 'title',
    name: text.alert,
    cell: (alert) => (
      <span className={styles.alert} title={alert.text}>
        {alert.title}
      </span>
    ),
  },
  {
    id: 'state',
    name: text.state,
    cell: ({ ended_at: end }) =>
      end === null ? <Badge tone="error">{text.states.firing}</Badge> : <Badge tone="allow">{text.over}</Badge>,
  },
  { id: 'start', name: text.began, cell: ({ started_at: at }) => <Time at={at} /> },
  { id: 'end', name: text.ended, priority: 3, cell: ({ ended_at: at }) => at !== null && <Time at={at} /> },
  { id: 'messages', name: text.messages, priority: 2, cell: ({ deliveries }) => <Messages deliveries={deliveries} /> },
]

const Time = ({ at }: { readonly at: number }) => <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>

/** What became of the messages, the worst first. */
function Messages({ deliveries }: Pick<Alert, 'deliveries'>) {
  const worst =
    deliveries.find(({ state }) => state === 'given_up') ?? deliveries.find(({ last_error: error }) => error)
  if (deliveries.length === 0) return <span className={styles.faint}>{text.notSent}</span>
  const sent = deliveries.filter(({ state }) => state === 'sent').length
  return (
    <span className={styles.state}>
      {worst === undefined ? (
        <Badge tone="allow">{text.sentOf(sent, deliveries.length)}</Badge>
      ) : (
        <Badge tone={worst.state === 'given_up' ? 'error' : 'warning'} title={worst.last_error ?? undefined}>
          {worst.state === 'given_up' ? text.givenUp : text.sentOf(sent, deliveries.length)}
        </Badge>
      )}
    </span>
  )
}
