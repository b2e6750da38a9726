import { policyModes } from '../../../../domain/policy/content.ts'
import type { PolicyName, PolicyPage, PolicyStore } from '../../../../domain/policy/store.ts'
import type { Transaction } from '../database.ts'
import { eraseNotes } from './appeals.ts'
import { nameMatches, selectPage, type Condition } from '../page.ts'
import {
  changedColumns,
  changedValues,
  contentValues,
  policyColumns,
  policyOfRow,
  summaryOfRow,
  versionOfRow,
  type PolicyRow,
  type VersionRow,
} from './rows.ts'

const numbered = (from: number, count: number): string[] => Array.from({ length: count }, (_, at) => `$${from + at}`)

const insertPolicy = `insert into policy (id, organization_id, created_at, ${changedColumns.join(', ')})
  values (${numbered(1, 3 + changedColumns.length).join(', ')})`

const parameterOf = (column: string): string => `$${changedColumns.indexOf(column) + 4}`

/** Compare-and-set: updates the row only if it is still at the given revision. */
const updatePolicy = `update policy set ${changedColumns.map((column) => `${column} = ${parameterOf(column)}`).join(', ')},
  resumed_at = case when state = 'paused' and ${parameterOf('state')} <> 'paused' then ${parameterOf('updated_at')} else resumed_at end
  where organization_id = $1 and id = $2 and revision = $3 and deleted_at is null`

const selectPolicy = `select ${policyColumns.joined} from policy p
  left join policy_version v on v.policy_id = p.id and v.version = p.current_version
  where p.organization_id = $1 and p.id = $2 and p.deleted_at is null`

const selectInForce = `select ${policyColumns.joined} from policy p
  join policy_version v on v.policy_id = p.id and v.version = p.current_version
  where p.organization_id = $1 and p.state in (${policyModes.map((mode) => `'${mode}'`).join(', ')}) and p.deleted_at is null order by p.id`

const selectVersion = `select ${policyColumns.version} from policy_version
  where organization_id = $1 and policy_id = $2 and version = $3`

/** Policies in SQL, in the given transaction. */
export function policyStore(tx: Transaction): PolicyStore {
  return {
    async insert(policy) {
      await tx.run(insertPolicy, [policy.id, policy.organizationId, policy.createdAtMs, ...changedValues(policy)])
    },
    async find(organizationId, id) {
      const [row] = await tx.query<PolicyRow>(selectPolicy, [organizationId, id])
      return row && policyOfRow(row)
    },
    list: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'policy',
          columns: `${policyColumns.summary}, ${inForceOrDraft('mode')} as mode, ${inForceOrDraft('scope')} as scope`,
          where: { organization_id: organizationId },
          only: [['deleted_at is null'], ...policyConditions(page)],
          matches: nameMatches(page),
          map: summaryOfRow,
        },
        page,
      ),
    // The organization's row is the same for all writers, so that of two transactions one sees the name of the other.
    async lockNames(organizationId) {
      await tx.run('update organization set name = name where id = $1', [organizationId])
      const sql = 'select id, name from policy where organization_id = $1 and deleted_at is null order by id'
      return tx.query<PolicyName>(sql, [organizationId])
    },
    listInForce: async (organizationId) =>
      (await tx.query<PolicyRow>(selectInForce, [organizationId])).map(policyOfRow),
    replace: async (policy, revision) =>
      (await tx.run(updatePolicy, [policy.organizationId, policy.id, revision, ...changedValues(policy)])) === 1,
    async remove({ organizationId, id, revision }, atMs) {
      const removed = await tx.run(
        `update policy set deleted_at = $4
         where organization_id = $1 and id = $2 and revision = $3 and deleted_at is null`,
        [organizationId, id, revision, atMs],
      )
      if (removed === 0) return false
      // Nobody can read its cases and exceptions after it, and their texts may be those of users.
      for (const table of ['policy_case', 'policy_exception'])
        await tx.run(`delete from ${table} where organization_id = $1 and policy_id = $2`, [organizationId, id])
      await eraseNotes(tx, organizationId, { column: 'policy_id', id })
      return true
    },

    async insertVersion({ organizationId, id }, version) {
      const { id: versionId, version: number, publishedAtMs, publishedBy, reason } = version
      const values = [versionId, number, publishedAtMs, publishedBy, reason, ...contentValues(version)]
      await tx.run(
        `insert into policy_version (organization_id, policy_id, ${policyColumns.version})
         values (${numbered(1, 2 + values.length).join(', ')})`,
        [organizationId, id, ...values],
      )
    },
    async findVersion({ organizationId, id }, version) {
      const [row] = await tx.query<VersionRow>(selectVersion, [organizationId, id, version])
      return row && versionOfRow(row)
    },
    listVersions: ({ organizationId, id }, page) =>
      selectPage(
        tx,
        {
          table: 'policy_version',
          columns: policyColumns.version,
          where: { organization_id: organizationId, policy_id: id },
          by: 'version',
          map: versionOfRow,
        },
        page,
      ),

    async unknownProjects(organizationId, projectIds) {
      const parameters = numbered(2, projectIds.length).join(', ')
      const rows = await tx.query<{ id: string }>(
        `select id from project where organization_id = $1 and id in (${parameters})`,
        [organizationId, ...projectIds],
      )
      const known = new Set(rows.map(({ id }) => id))
      return projectIds.filter((id) => !known.has(id))
    },
    async archivedProjects(organizationId, projectIds) {
      const parameters = numbered(2, projectIds.length).join(', ')
      const rows = await tx.query<{ id: string }>(
        `select id from project where organization_id = $1 and archived_at is not null and id in (${parameters})`,
        [organizationId, ...projectIds],
      )
      const archived = new Set(rows.map(({ id }) => id))
      return projectIds.filter((id) => archived.has(id))
    },
  }
}

function policyConditions({ state, hasUnpublishedChanges, content = {}, projectId }: PolicyPage): Condition[] {
  return [
    ...equal('state', state),
    ...equal(
      'has_unpublished_changes',
      hasUnpublishedChanges === undefined ? undefined : Number(hasUnpublishedChanges),
    ),
    ...Object.entries(content).flatMap(([name, value]) => equal(inForceOrDraft(name), value)),
    ...(projectId === undefined ? [] : [appliesTo(projectId)]),
  ]
}

const equal = (expression: string, value: string | number | undefined): Condition[] =>
  value === undefined ? [] : [[`${expression} = ?`, value]]

/** The column of the current version; of the draft while nothing is published. */
const inForceOrDraft = (column: string): string =>
  `coalesce((select v.${column} from policy_version v
    where v.policy_id = policy.id and v.version = policy.current_version), policy.${column})`

/** `project_ids` is a JSON list of texts. It contains an id if removing the id in quotation marks changes it. */
function appliesTo(projectId: string): Condition {
  const ids = inForceOrDraft('project_ids')
  const isListed = `(${inForceOrDraft('scope')} = 'projects' and replace(${ids}, ?, '') <> ${ids})`
  return [`(${inForceOrDraft('scope')} = 'organization' or ${isListed})`, JSON.stringify(projectId)]
}
