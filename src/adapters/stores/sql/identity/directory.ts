import type { Organization, Project } from '../../../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../../../domain/identity/store.ts'
import type { Transaction } from '../database.ts'
import { projectConditions } from './conditions.ts'
import { adminKeys, apiKeys } from './keys.ts'
import { columns, finder, organizationOf, projectOf } from './rows.ts'
import { nameMatches, selectPage } from '../page.ts'

/** Organizations, projects and keys in SQL, in the given transaction. */
export function directoryStore(tx: Transaction): DirectoryStore {
  return { ...organizations(tx), ...projects(tx), ...apiKeys(tx), ...adminKeys(tx) }
}

function organizations(
  tx: Transaction,
): Pick<
  DirectoryStore,
  | 'insertOrganization'
  | 'listOrganizations'
  | 'findOrganization'
  | 'claimInstallation'
  | 'updateOrganization'
  | 'addPayment'
> {
  const one = finder(tx)
  return {
    async insertOrganization({ id, name, plan, lifetimePaidMicroUsd, metered, createdAtMs }: Organization) {
      await tx.run(
        `insert into organization (id, name, plan, lifetime_paid_micro_usd, metered, version, changed_at, created_at)
         values ($1, $2, $3, $4, $5, 1, $6, $6)`,
        [id, name, plan, lifetimePaidMicroUsd, metered ? 1 : 0, createdAtMs],
      )
    },
    listOrganizations: (page) =>
      selectPage(tx, { table: 'organization', columns: columns.organization, where: {}, map: organizationOf }, page),
    findOrganization: (id) =>
      one(organizationOf, `select ${columns.organization} from organization where id = $1`, [id]),
    updateOrganization: async (id, { name, plan, metered }) =>
      (await tx.run(
        `update organization set name = coalesce($2, name), plan = coalesce($3, plan),
         metered = coalesce(cast($4 as bigint), metered) where id = $1`,
        [id, name ?? null, plan ?? null, metered === undefined ? null : Number(metered)],
      )) === 1,
    addPayment: async (id, microUsd) =>
      (await tx.run('update organization set lifetime_paid_micro_usd = lifetime_paid_micro_usd + $2 where id = $1', [
        id,
        microUsd,
      ])) === 1,
    claimInstallation: async (organizationId) =>
      (await tx.run('insert into installation (singleton, organization_id) values (1, $1) on conflict do nothing', [
        organizationId,
      ])) === 1,
  }
}

function projects(
  tx: Transaction,
): Pick<
  DirectoryStore,
  'insertProject' | 'listProjects' | 'findProject' | 'renameProject' | 'archiveProject' | 'unarchiveProject'
> {
  const one = finder(tx)
  return {
    async insertProject({ id, organizationId, name, createdAtMs }: Project) {
      await tx.run('insert into project (id, organization_id, name, created_at) values ($1, $2, $3, $4)', [
        id,
        organizationId,
        name,
        createdAtMs,
      ])
    },
    listProjects: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'project',
          columns: columns.project,
          where: { organization_id: organizationId },
          only: projectConditions(page),
          matches: nameMatches(page),
          map: projectOf,
        },
        page,
      ),
    findProject: (organizationId, id) =>
      one(projectOf, `select ${columns.project} from project where organization_id = $1 and id = $2`, [
        organizationId,
        id,
      ]),
    renameProject: async (organizationId, id, name) =>
      (await tx.run('update project set name = $3 where organization_id = $1 and id = $2', [
        organizationId,
        id,
        name,
      ])) === 1,
    archiveProject: async (organizationId, id, atMs) =>
      (await tx.run(
        'update project set archived_at = coalesce(archived_at, $3) where organization_id = $1 and id = $2',
        [organizationId, id, atMs],
      )) === 1,
    unarchiveProject: async (organizationId, id) =>
      (await tx.run('update project set archived_at = null where organization_id = $1 and id = $2', [
        organizationId,
        id,
      ])) === 1,
  }
}
