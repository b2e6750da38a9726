import {
  policyDirections,
  policyModes,
  policyStates,
  policyScopes,
  summaryOf,
} from '../../../../domain/policy/policy.ts'
import type { Policy, PolicyContent, PolicySummary, PolicyVersion } from '../../../../domain/policy/policy.ts'
import type { Value } from '../database.ts'

/** The columns of each table in the order of its row type, and how a row becomes what the domain speaks of. */
const summaryColumns =
  'id, organization_id, name, description, state, revision, current_version, has_unpublished_changes, created_at, updated_at'
const contentColumns = 'rule, direction, mode, scope, project_ids, match_threshold_basis_points'
const versionColumns = `id, version, published_at, ${contentColumns}`

export const policyColumns = {
  summary: summaryColumns,
  version: versionColumns,
  /** A policy `p` with its current version `v`. */
  joined: `${prefixed('p', `${summaryColumns}, ${contentColumns}, base_version`)}, ${prefixed('v', versionColumns, 'v_')}`,
}

type ContentRow = {
  rule: string
  direction: string
  mode: string
  scope: string
  project_ids: string
  match_threshold_basis_points: number | null
}

export type SummaryRow = {
  id: string
  organization_id: string
  name: string
  description: string
  state: string
  revision: number
  current_version: number | null
  has_unpublished_changes: number
  created_at: number
  updated_at: number
}

export type VersionRow = ContentRow & { id: string; version: number; published_at: number }

type JoinedVersion = { [Column in keyof VersionRow as `v_${Column}`]: VersionRow[Column] }
type NoVersion = { [Column in keyof JoinedVersion]: null }
export type PolicyRow = SummaryRow & ContentRow & { base_version: number | null } & (JoinedVersion | NoVersion)

export const summaryOfRow = (row: SummaryRow): PolicySummary => ({
  ...ownFieldsOf(row),
  currentVersion: row.current_version,
  hasUnpublishedChanges: row.has_unpublished_changes === 1,
})

export const versionOfRow = (row: VersionRow): PolicyVersion => ({
  ...contentOfRow(row),
  id: row.id,
  version: row.version,
  publishedAtMs: row.published_at,
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
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

function publishedOf(row: PolicyRow): PolicyVersion | null {
  if (row.v_id === null) return null
  return versionOfRow({
    id: row.v_id,
    version: row.v_version,
    published_at: row.v_published_at,
    rule: row.v_rule,
    direction: row.v_direction,
    mode: row.v_mode,
    scope: row.v_scope,
    project_ids: row.v_project_ids,
    match_threshold_basis_points: row.v_match_threshold_basis_points,
  })
}

const contentOfRow = (row: ContentRow): PolicyContent => ({
  rule: row.rule,
  direction: oneOf(policyDirections, row.direction),
  mode: oneOf(policyModes, row.mode),
  scope: oneOf(policyScopes, row.scope),
  projectIds: stringsOf(row.project_ids),
  matchThresholdBasisPoints: row.match_threshold_basis_points,
})

/** The content in the order of its columns. */
export const contentValues = (content: PolicyContent): Value[] => [
  content.rule,
  content.direction,
  content.mode,
  content.scope,
  JSON.stringify(content.projectIds),
  content.matchThresholdBasisPoints,
]

/** All that a change may touch: from `name` to `updated_at`, in the order of `changedColumns`. */
export function changedValues(policy: Policy): Value[] {
  const { name, description, state, revision, currentVersion, hasUnpublishedChanges, updatedAtMs } = summaryOf(policy)
  const own = [name, description, state, revision, currentVersion, hasUnpublishedChanges ? 1 : 0, updatedAtMs]
  return [...own, ...contentValues(policy.draft), policy.draft.baseVersion]
}

export const changedColumns =
  `name, description, state, revision, current_version, has_unpublished_changes, updated_at, ${contentColumns}, base_version`.split(
    ', ',
  )

function prefixed(alias: string, list: string, as = ''): string {
  return list.replace(/\w+/g, as === '' ? `${alias}.$&` : `${alias}.$& as ${as}$&`)
}

/** The table's own checks admit no other word: this only tells the compiler so. */
function oneOf<const Word extends string>(words: readonly Word[], text: string): Word {
  const word = words.find((each) => each === text)
  if (word === undefined) throw new Error(`${text} is none of ${words.join(', ')}`)
  return word
}

function stringsOf(json: string): string[] {
  const value: unknown = JSON.parse(json)
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
