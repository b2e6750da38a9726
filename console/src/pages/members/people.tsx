import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useMe } from '../../session/session.tsx'
import { Badge, type Tone } from '../../kit/badge.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { fullTime, time } from '../../kit/format.ts'
import { EmptyState } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { InviteDialog, EditMemberDialog, RemoveMemberDialog, SuspendDialog } from './dialogs.tsx'
import { List } from './list.tsx'
import { nameOf, useMembers, type Member } from './queries.ts'
import { RowMenu } from './row-menu.tsx'
import { roleNames, statuses, type DialogName, type MembersSearch } from './search.ts'
import styles from './page.module.css'

const text = words.members

type PeopleProps = { readonly search: MembersSearch; readonly mayChange: boolean }

/** The members of the organization. */
export function People({ search, mayChange }: PeopleProps) {
  const query = useMembers(search)
  const navigate = useNavigate({ from: '/members' })
  const { actor } = useMe()
  const close = (): void =>
    void navigate({ to: '/members', search: (before) => ({ ...before, dialog: undefined, id: undefined }) })
  const member = query.rows.find(({ id }) => id === search.id)
  return (
    <>
      <Filters search={search} mayChange={mayChange} />
      <List
        label={text.tabs.people}
        query={query}
        columns={columnsOf({ mayChange, ownId: actor.id })}
        failed={text.failed.people}
        empty={<NoMembers search={search} mayChange={mayChange} />}
      />
      {mayChange && search.dialog === 'invite' && <InviteDialog onClose={close} />}
      {mayChange && member && <MemberDialog dialog={search.dialog} member={member} onClose={close} />}
    </>
  )
}

type DialogProps = {
  readonly dialog: DialogName | undefined
  readonly member: Member
  readonly onClose: () => void
}

function MemberDialog({ dialog, member, onClose }: DialogProps) {
  if (dialog === 'edit') return <EditMemberDialog member={member} onClose={onClose} />
  if (dialog === 'suspend' || dialog === 'activate')
    return <SuspendDialog member={member} action={dialog} onClose={onClose} />
  if (dialog === 'remove') return <RemoveMemberDialog member={member} onClose={onClose} />
  return null
}

const tones = { invited: 'none', active: 'allow', suspended: 'deny' } as const satisfies Record<string, Tone>

type ColumnOptions = { readonly mayChange: boolean; readonly ownId: string }

const columnsOf = ({ mayChange, ownId }: ColumnOptions): readonly DataColumn<Member>[] => [
  {
    id: 'name',
    name: text.name,
    cell: (member) => (
      <span className={styles.who}>
        {mayChange ? (
          <Link
            from="/members"
            to="/members"
            className={styles.name}
            title={member.id}
            search={(before) => ({ ...before, dialog: 'edit', id: member.id })}
          >
            {nameOf(member)}
          </Link>
        ) : (
          <span className={styles.name} title={member.id}>
            {nameOf(member)}
          </span>
        )}
        {member.id === ownId && <span className={styles.faint}>{text.you}</span>}
      </span>
    ),
  },
  {
    id: 'email',
    name: text.email,
    priority: 2,
    cell: ({ email }) =>
      email === null ? (
        <span className={styles.faint}>{words.common.none}</span>
      ) : (
        <span className={styles.cut} title={email}>
          {email}
        </span>
      ),
  },
  { id: 'role', name: text.role, cell: ({ role }) => role },
  { id: 'source', name: text.source, priority: 3, cell: ({ role_source: source }) => text.sources[source] },
  {
    id: 'status',
    name: text.status,
    cell: ({ status }) => <Badge tone={tones[status]}>{text.statuses[status]}</Badge>,
  },
  {
    id: 'last_seen',
    name: text.lastSeen,
    priority: 2,
    cell: ({ last_seen_at: at }) =>
      at === null ? (
        <span className={styles.faint}>{text.never}</span>
      ) : (
        <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>
      ),
  },
  {
    id: 'actions',
    name: text.actions,
    cell: (member) => mayChange && <RowMenu id={member.id} name={nameOf(member)} items={actionsOf(member)} />,
  },
]

const actionsOf = ({ status }: Member): readonly (readonly [DialogName, string])[] => [
  ['edit', text.edit],
  status === 'suspended' ? ['activate', text.activate] : ['suspend', text.suspend],
  ['remove', text.remove],
]

function NoMembers({ search, mayChange }: PeopleProps) {
  const navigate = useNavigate({ from: '/members' })
  if (search.search !== undefined || search.role !== undefined || search.status !== undefined)
    return (
      <EmptyState
        title={text.noMatch}
        actions={<Button onClick={() => void navigate({ to: '/members', search: {} })}>{text.clearFilters}</Button>}
      />
    )
  return (
    <EmptyState
      title={text.empty}
      actions={
        mayChange && (
          <Button look="primary" onClick={() => void navigate({ to: '/members', search: { dialog: 'invite' } })}>
            {text.invite}
          </Button>
        )
      }
    >
      <p>{text.emptyText}</p>
      <CodeBlock code={text.emptyCommand} />
    </EmptyState>
  )
}

const typingMs = 200

function Filters({ search, mayChange }: PeopleProps) {
  const navigate = useNavigate({ from: '/members' })
  const [typed, setTyped] = useState(search.search ?? '')
  const set = (changed: MembersSearch): void =>
    void navigate({ to: '/members', search: (before) => ({ ...before, ...changed }), replace: true })
  useEffect(() => setTyped(search.search ?? ''), [search.search])
  useEffect(() => {
    if (typed === (search.search ?? '')) return undefined
    const timer = setTimeout(() => set({ search: typed === '' ? undefined : typed }), typingMs)
    return () => clearTimeout(timer)
  })
  return (
    <div className={styles.bar}>
      <input
        type="search"
        aria-label={text.search}
        placeholder={text.search}
        value={typed}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
      <select
        aria-label={text.role}
        value={search.role ?? ''}
        onChange={(event) => set({ role: roleNames.find((role) => role === event.target.value) })}
      >
        <option value="">{text.anyRole}</option>
        {roleNames.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
      <select
        aria-label={text.status}
        value={search.status ?? ''}
        onChange={(event) => set({ status: statuses.find((status) => status === event.target.value) })}
      >
        <option value="">{text.anyStatus}</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {text.statuses[status]}
          </option>
        ))}
      </select>
      <Button
        look="primary"
        icon="plus"
        className={styles.invite ?? ''}
        disabled={!mayChange}
        title={mayChange ? undefined : text.lacks}
        onClick={() => set({ dialog: 'invite' })}
      >
        {text.invite}
      </Button>
    </div>
  )
}
