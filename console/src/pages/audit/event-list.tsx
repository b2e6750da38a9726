import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type SubmitEvent } from 'react'
import type { Names } from '../../api/names.ts'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { ExportMenu } from '../../kit/export-menu.tsx'
import { Field } from '../../kit/field.tsx'
import { count, fullTime, time, zoneName } from '../../kit/format.ts'
import { LoadMore } from '../../kit/load-more.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { ActorName } from './actor.tsx'
import { eventKinds } from './kinds.ts'
import { useNames } from './names.ts'
import { useEvents, type AuditEvent } from './queries.ts'
import type { AuditSearch } from './search.ts'
import { What } from './what.tsx'
import styles from './page.module.css'

const text = words.audit

type ListProps = { readonly search: AuditSearch; readonly selectedId: string | undefined }

/** The events of the time range, newest first. The address holds the filters. */
export function EventList({ search, selectedId }: ListProps) {
  const events = useEvents(search)
  const { rows } = events
  const names = useNames()
  const isFiltered = search.event_kind !== undefined || search.actor_id !== undefined
  return (
    <>
      <Filters key={search.actor_id} search={search} />
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
  { id: 'kind', name: text.kind, cell: ({ kind }) => <code>{kind}</code> },
  { id: 'actor', name: text.actor, priority: 2, cell: ({ actor }) => <ActorName actor={actor} names={names} /> },
  { id: 'what', name: text.what, priority: 3, cell: (event) => <What event={event} names={names} /> },
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

function Filters({ search }: { readonly search: AuditSearch }) {
  const navigate = useNavigate()
  const [actorId, setActorId] = useState(search.actor_id ?? '')
  const { from, to } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const set = (changed: AuditSearch): void =>
    void navigate({ to: '/audit', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    set({ actor_id: actorId.trim() || undefined })
  }
  return (
    <form className={styles.bar} onSubmit={submit}>
      <Field label={text.kind}>
        {(input) => (
          <select
            {...input}
            value={search.event_kind ?? ''}
            onChange={(event) => set({ event_kind: event.target.value || undefined })}
          >
            <option value="">{text.allKinds}</option>
            {eventKinds.map((kind) => (
              <option key={kind} value={kind}>
                {kind}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={text.actorId}>
        {(input) => (
          <input
            {...input}
            placeholder={text.actorHint}
            value={actorId}
            onChange={(event) => setActorId(event.target.value)}
          />
        )}
      </Field>
      <span className={styles.end}>
        <ExportMenu
          path="/v1/organization/audit_logs/export"
          query={{ without_requests: true, kind: search.event_kind, actor_id: search.actor_id, from, to }}
        />
      </span>
    </form>
  )
}
