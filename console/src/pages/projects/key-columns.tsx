import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../kit/badge.tsx'
import type { DataColumn } from '../../kit/data-table.tsx'
import { day, dollars, fullTime, time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { isApiKey, type AdminKey, type AnyKey, type ApiKey } from './queries.ts'
import { RowActions } from './row-actions.tsx'
import styles from './page.module.css'

const text = words.projects
const soonMs = 7 * 86_400_000

type ColumnOptions = {
  readonly mayChange: boolean
  /** Undefined if the signed-in administrator may not see spend. */
  readonly spend: ReadonlyMap<string, number> | undefined
}

export const apiKeyColumns = ({ mayChange, spend }: ColumnOptions): readonly DataColumn<ApiKey>[] => [
  nameColumn(mayChange),
  { id: 'project', name: text.project, priority: 2, cell: ({ project_name: name }) => cut(name) },
  { id: 'secret', name: text.secret, priority: 3, cell: (key) => <code>{key.redacted_value}</code> },
  { id: 'models', name: text.mayUse, priority: 2, cell: modelsOf },
  lastUse,
  expiry,
  ...(spend === undefined
    ? []
    : [
        {
          id: 'spend',
          name: text.spend,
          isNumber: true,
          priority: 3,
          cell: (key: ApiKey) => (spend.has(key.id) ? dollars(spend.get(key.id)) : faint(words.common.none)),
        } as const,
      ]),
  status,
  actions(mayChange),
]

export const adminKeyColumns = ({ mayChange }: Pick<ColumnOptions, 'mayChange'>): readonly DataColumn<AdminKey>[] => [
  nameColumn(mayChange),
  { id: 'secret', name: text.secret, priority: 3, cell: (key) => <code>{key.redacted_value}</code> },
  {
    id: 'permissions',
    name: text.may,
    priority: 2,
    cell: ({ permissions }) => <code title={permissions.join(', ')}>{permissions.join(', ')}</code>,
  },
  lastUse,
  expiry,
  status,
  actions(mayChange),
]

const nameColumn = (mayChange: boolean): DataColumn<AnyKey> => ({
  id: 'name',
  name: text.name,
  cell: (key) =>
    mayChange && key.revoked_at === undefined ? (
      <Link
        from="/projects"
        to="/projects"
        className={styles.name}
        title={key.id}
        search={(before) => ({ ...before, dialog: 'edit', id: key.id })}
      >
        {key.name}
      </Link>
    ) : (
      <span className={styles.cut} title={key.id}>
        {key.name}
      </span>
    ),
})

const lastUse: DataColumn<AnyKey> = {
  id: 'last_use',
  name: text.lastUse,
  priority: 2,
  cell: ({ last_used_at: at }) =>
    at === undefined ? faint(text.never) : <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>,
}

const expiry: DataColumn<AnyKey> = {
  id: 'expires',
  name: text.expires,
  priority: 2,
  cell: ({ expires_at: at }) =>
    at === undefined ? faint(text.never) : <span title={fullTime(at * 1_000)}>{day(at * 1_000)}</span>,
}

const status: DataColumn<AnyKey> = { id: 'status', name: text.status, cell: statusOf }

const actions = (mayChange: boolean): DataColumn<AnyKey> => ({
  id: 'actions',
  name: text.actions,
  cell: (key) => (
    <RowActions name={key.name} items={mayChange ? keyActions(key) : []} requests={requestsOf(key)} id={key.id} />
  ),
})

const keyActions = (key: AnyKey) =>
  key.revoked_at === undefined
    ? ([
        ['edit', text.edit],
        ['rotate', text.rotate],
        ['revoke', text.revoke],
      ] as const)
    : []

const requestsOf = (key: AnyKey) => (isApiKey(key) ? { api_key_id: key.id } : undefined)

function statusOf(key: AnyKey): ReactNode {
  const nowMs = Date.now()
  const endMs = (key.expires_at ?? Infinity) * 1_000
  if (key.revoked_at !== undefined)
    return (
      <Badge tone="deny" title={fullTime(key.revoked_at * 1_000)}>
        {text.statuses.revoked}
      </Badge>
    )
  if (endMs <= nowMs) return <Badge tone="warning">{text.statuses.expired}</Badge>
  if (isApiKey(key) && key.project_status === 'archived') return <Badge tone="none">{text.projectArchived}</Badge>
  if (endMs - nowMs < soonMs) return <Badge tone="warning">{text.expiresSoon}</Badge>
  if ((key.previous_expires_at ?? 0) * 1_000 > nowMs)
    return (
      <Badge tone="none" title={text.twoSecrets(time((key.previous_expires_at ?? 0) * 1_000))}>
        {text.rotating}
      </Badge>
    )
  return text.statuses.active
}

const modelsOf = ({ models }: ApiKey): ReactNode => (models === null ? faint(text.allModels) : cut(models.join(', ')))

const cut = (value: string): ReactNode => (
  <span className={styles.cut} title={value}>
    {value}
  </span>
)

const faint = (value: string): ReactNode => <span className={styles.faint}>{value}</span>
