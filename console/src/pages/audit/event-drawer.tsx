import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import type { Names } from '../../api/names.ts'
import { IconButton } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Drawer, DrawerButtons, DrawerSection } from '../../kit/drawer.tsx'
import { fullTime } from '../../kit/format.ts'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { ActorName } from './actor.tsx'
import { changedFields, type ChangedField } from './changes.ts'
import { useNames } from './names.ts'
import { ObjectLink } from './object-link.tsx'
import { useEvent, type AuditEvent } from './queries.ts'
import { objectFilter } from './search.ts'
import { What } from './what.tsx'
import styles from './event-drawer.module.css'

const text = words.audit

/** One event: who did what, the fields before and after the change, and its place in the chain. */
export function EventDrawer() {
  const { eventId } = useParams({ from: '/audit/$eventId' })
  const event = useEvent(eventId)
  const names = useNames()
  const navigate = useNavigate()
  useEffect(() => {
    const onKey = ({ key, defaultPrevented }: KeyboardEvent): void => {
      if (key === 'Escape' && !defaultPrevented) void navigate({ to: '/audit', search: true })
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate])
  return (
    <Drawer
      label={text.event}
      bar={
        <>
          <ShortId id={eventId} />
          <DrawerButtons>
            <IconButton
              isSmall
              icon="close"
              label={words.common.close}
              onClick={() => void navigate({ to: '/audit', search: true })}
            />
          </DrawerButtons>
        </>
      }
      title={
        event.data && (
          <p>
            <What event={event.data} names={names} />
          </p>
        )
      }
    >
      {event.isPending && <LoadingRows widths={[90, 220]} />}
      {event.isError && (
        <FailureState title={text.eventFailed} error={event.error} onRetry={() => void event.refetch()} />
      )}
      {event.data && <Detail event={event.data} names={names} />}
    </Drawer>
  )
}

type DetailProps = { readonly event: AuditEvent; readonly names: Names }

function Detail({ event, names }: DetailProps) {
  const fields = changedFields(event.details)
  return (
    <>
      <DrawerSection>
        <Facts event={event} names={names} />
      </DrawerSection>
      <DrawerSection title={text.changes}>
        {fields.length === 0 ? <p className={styles.quiet}>{text.noChanges}</p> : <Changes fields={fields} />}
      </DrawerSection>
      <DrawerSection title={text.proof}>
        <dl className={styles.facts}>
          <Fact name={text.position}>{event.sequence}</Fact>
          <Fact name={text.fingerprint}>
            <code>{event.fingerprint}</code>
          </Fact>
        </dl>
        <CommandPreview
          call={{
            method: 'GET',
            path: `/v1/organization/audit_logs/${event.id}`,
            command: `gatehouse audit verify --from ${event.sequence} --to ${event.sequence}`,
          }}
        />
      </DrawerSection>
    </>
  )
}

function Changes({ fields }: { readonly fields: readonly ChangedField[] }) {
  const hasBefore = fields.some(({ before }) => before !== undefined)
  return (
    <table className={styles.changes}>
      <thead>
        <tr>
          <th scope="col">{text.field}</th>
          {hasBefore && <th scope="col">{text.before}</th>}
          <th scope="col">{hasBefore ? text.after : text.value}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {hasBefore && <td>{before === undefined ? words.common.none : <code>{before}</code>}</td>}
            <td>
              <code>{after}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Facts({ event, names }: DetailProps) {
  const { resource_id: resource, request_id: request, project_id: project, actor } = event
  const { old_revision: before, new_revision: after } = event
  return (
    <dl className={styles.facts}>
      <Fact name={text.time}>{fullTime(event.created_at * 1_000)}</Fact>
      <Fact name={text.kind}>
        <code>{event.kind}</code>
      </Fact>
      <Fact name={text.actor}>
        {actor.id === null ? (
          <ActorName actor={actor} names={names} />
        ) : (
          <Link to="/audit" search={(search: object) => ({ ...search, actor_id: actor.id ?? undefined })}>
            <ActorName actor={actor} names={names} />
          </Link>
        )}
        {actor.id !== null && `, ${text.actors[actor.type].toLowerCase()}`}
      </Fact>
      {resource !== null && (
        <Fact name={text.resource}>
          <ObjectLink id={resource} kind={event.kind} names={names} />{' '}
          <Link to="/audit" search={(search: object) => ({ ...search, ...objectFilter(resource) })}>
            {text.allChanges}
          </Link>
        </Fact>
      )}
      {(before !== null || after !== null) && <Fact name={text.revision}>{text.revisions(before, after)}</Fact>}
      {project !== null && <Fact name={text.project}>{names.get(project) ?? project}</Fact>}
      {request !== null && (
        <Fact name={text.request}>
          <ShortId id={request} />
        </Fact>
      )}
    </dl>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
