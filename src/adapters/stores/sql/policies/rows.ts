import { contentBody, contentFromColumns, policyFields } from '../../../../domain/policy/content.ts'
import type { PolicyContent, PolicyContentBody, PolicyField } from '../../../../domain/policy/content.ts'
import { policyStates, summaryOf } from '../../../../domain/policy/policy.ts'
import type { Policy, PolicySummary, PolicyVersion } from '../../../../domain/policy/policy.ts'
import type { Value } from '../database.ts'

const summaryColumns =
  'id, organization_id, name, description, state, revision, current_version, has_unpublished_changes, rollout_percent, created_at, updated_at'
const contentColumns = Object.values(policyFields)
  .map(({ name }) => name)
  .join(', ')
const versionColumns = `id, version, published_at, published_by, reason, ${contentColumns}`

export const policyColumns = {
  summary: summaryColumns,
  version: versionColumns,
  /** A policy `p` with its current version `v`. */
  joined: `${prefixed('p', `${summaryColumns}, ${contentColumns}, base_version`)}, ${prefixed('v', versionColumns, 'v_')}`,
}

type ContentRow = { [Column in keyof PolicyContentBody]: Value }

export type SummaryRow = {
  id: string
  organization_id: string
  name: string
  description: string
  state: string
  revision: number
  current_version: number | null
  has_unpublished_changes: number
  rollout_percent: number
  created_at: number
  updated_at: number
}

export type VersionRow = ContentRow & {
  id: string
  version: number
  published_at: number
  published_by: string | null
  reason: string | null
}

type JoinedVersion = { [Column in keyof VersionRow as `v_${Column}`]: VersionRow[Column] }
type NoVersion = { [Column in keyof JoinedVersion]: null }
export type PolicyRow = SummaryRow & ContentRow & { base_version: number | null } & (JoinedVersion | NoVersion)

type ListedRow = SummaryRow & { mode: string; scope: string }

export const summaryOfRow = (row: ListedRow): PolicySummary => ({
  ...ownFieldsOf(row),
  currentVersion: row.current_version,
  hasUnpublishedChanges: row.has_unpublished_changes === 1,
  mode: oneOf(policyFields.mode.choices, row.mode),
  scope: oneOf(policyFields.scope.choices, row.scope),
})

export const versionOfRow = (row: VersionRow): PolicyVersion => ({
  ...contentOfRow(row),
  id: row.id,
  version: row.version,
  publishedAtMs: row.published_at,
  publishedBy: row.published_by,
  reason: row.reason,
})

export const policyOfRow = (row: PolicyRow): Policy => ({
  ...ownFieldsOf(row),
  draft: { ...contentOfRow(row), baseVersion: row.base_version },
  published: publishedOf(row),
})

const ownFieldsOf = (row: SummaryRow) => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  description: row.description,
  state: oneOf(policyStates, row.state),
  revision: row.revision,
  rolloutPercent: row.rollout_percent,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

function publishedOf(row: PolicyRow): PolicyVersion | null {
  if (row.v_id === null) return null
  const columns = Object.entries(row).filter(([column]) => column.startsWith('v_'))
  return versionOfRow(Object.fromEntries(columns.map(([column, value]) => [column.slice(2), value])) as VersionRow)
}

const contentOfRow = (row: ContentRow): PolicyContent =>
  contentFromColumns((field) => decodeColumn(field, row[field.name]))

function decodeColumn(field: PolicyField, value: Value): unknown {
  if (field.kind === 'choice') return oneOf<string>(field.choices, String(value))
  if (field.kind === 'flag') return value === 1
  return field.kind === 'set' ? stringsOf(String(value)) : value
}

/** The content in the order of `contentColumns`. */
export const contentValues = (content: PolicyContent): Value[] =>
  Object.values(contentBody(content)).map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0
    return Array.isArray(value) ? JSON.stringify(value) : value
  })

/** The values of all columns that a mutation can change, in the order of `changedColumns`. */
export function changedValues(policy: Policy): Value[] {
  const { name, description, state, revision, currentVersion, hasUnpublishedChanges, rolloutPercent, updatedAtMs } =
    summaryOf(policy)
  const own = [
    name,
    description,
    state,
    revision,
    currentVersion,
    hasUnpublishedChanges ? 1 : 0,
    rolloutPercent,
    updatedAtMs,
  ]
  return [...own, ...contentValues(policy.draft), policy.draft.baseVersion]
}

export const changedColumns =
  `name, description, state, revision, current_version, has_unpublished_changes, rollout_percent, updated_at, ${contentColumns}, base_version`.split(
    ', ',
  )

function prefixed(alias: string, list: string, as = ''): string {
  return list.replace(/\w+/g, as === '' ? `${alias}.$&` : `${alias}.$& as ${as}$&`)
}

/** Narrows the type. The check constraint of the column admits no other value. */
function oneOf<const Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find((each) => each === text)
  if (word === undefined) throw new Error(`${text} is none of ${words.join(', ')}`)
  return word
}

function stringsOf(json: string): string[] {
  const value: unknown = JSON.parse(json)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
