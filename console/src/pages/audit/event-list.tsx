import { Link, useNavigate } from '@tanstack/react-router'
import type { Names } from '../../api/names.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, fullTime, time, zoneName } from '../../kit/format.ts'
import { LoadMore } from '../../kit/load-more.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { ActorName } from './actor.tsx'
import { EventFilters } from './event-filters.tsx'
import { useNames } from './names.ts'
import { useEvents, type AuditEvent } from './queries.ts'
import type { AuditSearch } from './search.ts'
import { What } from './what.tsx'
import styles from './page.module.css'

const text = words.audit

const filterNames = ['event_kind', 'actor_id', 'policy_id', 'project_id', 'resource_id'] as const

type ListProps = { readonly search: AuditSearch; readonly selectedId: string | undefined }

/** The events of the time range, newest first. The address holds the filters. */
export function EventList({ search, selectedId }: ListProps) {
  const events = useEvents(search)
  const { rows } = events
  const names = useNames()
  const isFiltered = filterNames.some((name) => search[name] !== undefined)
  return (
    <>
      <EventFilters search={search} />
      {events.isPending && <LoadingRows widths={[120, 100, 120, 260]} rows={12} />}
      {events.isError && (
        <FailureState title={text.failed} error={events.error} onRetry={() => void events.refetch()} />
      )}
      {events.isSuccess && rows.length === 0 && <NoEvents isFiltered={isFiltered} />}
      {rows.length > 0 && (
        <Card title={text.views.events} note={`${count(rows.length)}${events.hasNextPage ? '+' : ''}`} isFlush>
          <DataTable
            label={text.views.events}
            rows={rows}
            columns={columnsOf(names)}
            idOf={({ id }) => id}
            selectedId={selectedId}
          />
        </Card>
      )}
      <LoadMore query={events} />
    </>
  )
}

const columnsOf = (names: Names): readonly DataColumn<AuditEvent>[] => [
  {
    id: 'time',
    name: `${text.time} ${zoneName()}`,
    cell: ({ id, created_at: at }) => (
      <Link to="/audit/$eventId" params={{ eventId: id }} search={true} title={fullTime(at * 1_000)}>
        {time(at * 1_000)}
      </Link>
    ),
  },
  { id: 'kind', name: text.kind, priority: 3, cell: ({ kind }) => <code>{kind}</code> },
  { id: 'actor', name: text.actor, priority: 2, cell: ({ actor }) => <ActorName actor={actor} names={names} /> },
  { id: 'what', name: text.what, cell: (event) => <What event={event} names={names} /> },
]

function NoEvents({ isFiltered }: { readonly isFiltered: boolean }) {
  const navigate = useNavigate()
  if (isFiltered)
    return (
      <EmptyState
        title={text.noMatch}
        actions={<Button onClick={() => void navigate({ to: '/audit', search: {} })}>{text.clearFilters}</Button>}
      />
    )
  return (
    <EmptyState title={text.none}>
      <p>{text.noneText}</p>
      <div className={styles.snippet}>
        <CodeBlock code="gatehouse audit list --without-requests" />
      </div>
    </EmptyState>
  )
}
