import type { StoredDigest } from '../../../../domain/identity/key-digests.ts'
import type { AdminKey, ApiKey } from '../../../../domain/identity/principal.ts'
import type { DirectoryStore } from '../../../../domain/identity/store.ts'
import type { Transaction, Value } from '../database.ts'
import { nameMatches, selectPage } from '../page.ts'
import { keyConditions } from './conditions.ts'
import { adminKeyOf, apiKeyOf, columns, finder, prefixed, projectKeyOf, stringsOf } from './rows.ts'

/** API keys in SQL, in the given transaction. */
export function apiKeys(
  tx: Transaction,
): Pick<
  DirectoryStore,
  | 'insertApiKey'
  | 'listApiKeys'
  | 'listProjectKeys'
  | 'countKeysByModels'
  | 'findApiKey'
  | 'lockApiKey'
  | 'updateApiKey'
  | 'rotateApiKey'
  | 'revokeApiKey'
> {
  const one = finder(tx)
  return {
    async insertApiKey(key: ApiKey, { digest, secretId }: StoredDigest) {
      await tx.run(
        `insert into api_key (id, organization_id, project_id, name, digest, redacted_value, permissions, models, created_at, expires_at, allowed_ips, secret_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [
          key.id,
          key.organizationId,
          key.projectId,
          key.name,
          digest,
          key.redactedValue,
          JSON.stringify(key.permissions),
          listOrNull(key.models),
          key.createdAtMs,
          key.expiresAtMs,
          listOrNull(key.allowedIps),
          secretId,
        ],
      )
    },
    listApiKeys: (organizationId, projectId, page) =>
      selectPage(
        tx,
        {
          table: 'api_key',
          columns: columns.apiKey,
          where: { organization_id: organizationId, project_id: projectId },
          only: keyConditions(page),
          matches: nameMatches(page),
          map: apiKeyOf,
        },
        page,
      ),
    listProjectKeys: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'api_key k join project p on p.id = k.project_id',
          columns: `${prefixed('k', columns.apiKey)}, p.name as project_name, p.archived_at as project_archived_at`,
          where: {
            'k.organization_id': organizationId,
            ...(page.projectId !== undefined && { 'k.project_id': page.projectId }),
          },
          // A key of an archived project does not work.
          only: [...keyConditions(page), ...(page.status?.is === 'active' ? [['p.archived_at is null'] as const] : [])],
          matches: nameMatches(page),
          id: 'k.id',
          map: projectKeyOf,
        },
        page,
      ),
    async countKeysByModels(organizationId, nowMs) {
      const rows = await tx.query<{ models: string | null; count: number }>(
        `select k.models, count(*) as count from api_key k join project p on p.id = k.project_id
         where k.organization_id = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2)
         and p.archived_at is null group by k.models`,
        [organizationId, nowMs],
      )
      return rows.map(({ models, count }) => ({
        models: models === null ? null : stringsOf(models),
        count,
      }))
    },
    findApiKey: (organizationId, id) =>
      one(apiKeyOf, `select ${columns.apiKey} from api_key where organization_id = $1 and id = $2`, [
        organizationId,
        id,
      ]),
    async lockApiKey(organizationId, id) {
      await tx.run('update api_key set name = name where organization_id = $1 and id = $2', [organizationId, id])
    },
    rotateApiKey: async (key, digest) => (await tx.run(...rotation('api_key', key, digest))) === 1,
    updateApiKey: async (key) =>
      (await tx.run(
        `update api_key set name = $3, permissions = $4, expires_at = $5, allowed_ips = $6, models = $7
         where organization_id = $1 and id = $2 and revoked_at is null`,
        [...changeable(key), listOrNull(key.models)],
      )) === 1,
    revokeApiKey: async (organizationId, id, atMs) =>
      (await tx.run(
        'update api_key set revoked_at = $3 where organization_id = $1 and id = $2 and revoked_at is null',
        [organizationId, id, atMs],
      )) === 1,
  }
}

/** Administrator keys in SQL, in the given transaction. */
export function adminKeys(
  tx: Transaction,
): Pick<
  DirectoryStore,
  | 'insertAdminKey'
  | 'listAdminKeys'
  | 'findAdminKey'
  | 'updateAdminKey'
  | 'rotateAdminKey'
  | 'revokeAdminKey'
  | 'lockAdminKeys'
  | 'hasOtherOwner'
> {
  const one = finder(tx)
  return {
    async insertAdminKey(key: AdminKey, { digest, secretId }: StoredDigest) {
      await tx.run(
        `insert into admin_key (id, organization_id, name, digest, redacted_value, permissions, created_at, expires_at, allowed_ips, secret_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          key.id,
          key.organizationId,
          key.name,
          digest,
          key.redactedValue,
          JSON.stringify(key.permissions),
          key.createdAtMs,
          key.expiresAtMs,
          listOrNull(key.allowedIps),
          secretId,
        ],
      )
    },
    listAdminKeys: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'admin_key',
          columns: columns.adminKey,
          where: { organization_id: organizationId },
          only: keyConditions(page),
          matches: nameMatches(page),
          map: adminKeyOf,
        },
        page,
      ),
    findAdminKey: (organizationId, id) =>
      one(adminKeyOf, `select ${columns.adminKey} from admin_key where organization_id = $1 and id = $2`, [
        organizationId,
        id,
      ]),
    updateAdminKey: async (key) =>
      (await tx.run(
        `update admin_key set name = $3, permissions = $4, expires_at = $5, allowed_ips = $6
         where organization_id = $1 and id = $2 and revoked_at is null`,
        changeable(key),
      )) === 1,
    rotateAdminKey: async (key, digest) => (await tx.run(...rotation('admin_key', key, digest))) === 1,
    revokeAdminKey: async (organizationId, id, atMs) =>
      (await tx.run(
        'update admin_key set revoked_at = $3 where organization_id = $1 and id = $2 and revoked_at is null',
        [organizationId, id, atMs],
      )) === 1,
    // Locks one row that is the same for all callers. Locking several rows in different order would deadlock.
    async lockAdminKeys(organizationId) {
      await tx.run(
        'update admin_key set name = name where id = (select min(id) from admin_key where organization_id = $1)',
        [organizationId],
      )
    },
    async hasOtherOwner({ organizationId, id, expiresAtMs, allowedIps }, nowMs) {
      const isLimited = expiresAtMs !== null || allowedIps !== null
      const [other] = await tx.query(
        `select id from admin_key where organization_id = $1 and id <> $2 and revoked_at is null
         and (expires_at is null or expires_at > $3) and permissions like '%"*"%'
         ${isLimited ? '' : 'and expires_at is null and allowed_ips is null'} limit 1`,
        [organizationId, id, nowMs],
      )
      return other !== undefined
    },
  }
}

const listOrNull = (list: readonly string[] | null): string | null => (list === null ? null : JSON.stringify(list))

/** The id columns of a key, then the columns that can be updated. */
const changeable = (key: AdminKey): Value[] => [
  key.organizationId,
  key.id,
  key.name,
  JSON.stringify(key.permissions),
  key.expiresAtMs,
  listOrNull(key.allowedIps),
]

function rotation(table: 'api_key' | 'admin_key', key: AdminKey, { digest, secretId }: StoredDigest) {
  const sql = `update ${table} set digest = $3, secret_id = $4, redacted_value = $5, secret_number = secret_number + 1,
      previous_digest = digest, previous_secret_id = secret_id, previous_expires_at = $6
    where organization_id = $1 and id = $2 and revoked_at is null`
  const params = [key.organizationId, key.id, digest, secretId, key.redactedValue, key.previousExpiresAtMs]
  return [sql, params] as const
}
