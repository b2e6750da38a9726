import type { CredentialStore, FoundKeys, FreeClaim } from '../../../../domain/identity/store.ts'
import type { Database, DatabaseRow } from '../database.ts'
import { joinedColumns, joinedOrganization, type JoinedOrganization } from './joined-organization.ts'
import { adminKeyOf, apiKeyOf, columns, prefixed, projectOf } from './rows.ts'
import type { AdminKeyRow, ApiKeyRow, ProjectRow } from './rows.ts'

const dayMs = 24 * 60 * 60 * 1000
const touchEveryMs = 60_000

/** The storage of authentication in SQL. */
export function credentialStore(database: Database): CredentialStore {
  return {
    async findApiKeys(digests) {
      const rows = await withDigest<ApiKeyRow>(
        digests,
        `${prefixed('k', columns.apiKey)}, p.archived_at as project_archived_at, ${joinedColumns} from api_key k
         join organization o on o.id = k.organization_id
         join project p on p.id = k.project_id`,
      )
      return byDigest(rows, apiKeyOf)
    },
    async findAdminKeys(digests) {
      const rows = await withDigest<AdminKeyRow>(
        digests,
        `${prefixed('k', columns.adminKey)}, ${joinedColumns} from admin_key k
         join organization o on o.id = k.organization_id`,
      )
      return byDigest(rows, adminKeyOf)
    },
    async findProject(organizationId, projectId) {
      const row = await joined<ProjectRow>(
        `select ${prefixed('p', columns.project)}, ${joinedColumns} from project p
         join organization o on o.id = p.organization_id
         where p.organization_id = $1 and p.id = $2 and p.archived_at is null`,
        [organizationId, projectId],
      )
      return row && { project: projectOf(row), organization: joinedOrganization(row) }
    },
    async touchKey(kind, id, atMs) {
      const sql = `update ${kind} set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at <= $3)`
      await database.write([{ sql, params: [id, atMs, atMs - touchEveryMs] }])
    },
    async replaceDigest({ kind, id, from }, { digest, secretId }) {
      const params = [id, from, digest, secretId]
      await database.write([
        { sql: `update ${kind} set digest = $3, secret_id = $4 where id = $1 and digest = $2`, params },
        {
          sql: `update ${kind} set previous_digest = $3, previous_secret_id = $4 where id = $1 and previous_digest = $2`,
          params,
        },
      ])
    },
    claimFreeRequest,
    async releaseFreeRequest({ client, atMs, isUsedUp }) {
      await database.write([
        {
          sql: 'update free_day set requests = requests - 1 where day = $1 and requests > 0',
          params: [Math.floor(atMs / dayMs)],
        },
        ...(isUsedUp ? [] : [{ sql: 'delete from free_request where client = $1', params: [client] }]),
      ])
    },
  }

  /** Takes the client's row and increments the daily count in one transaction, so that the cap is exact. */
  async function claimFreeRequest({ client, aliases, atMs, rememberMs, dailyCap }: FreeClaim): Promise<boolean> {
    if (dailyCap === 0) return false
    return database.transaction(async (tx) => {
      await tx.run('delete from free_request where at <= $1', [atMs - rememberMs])
      const parameters = aliases.map((_, at) => `$${at + 1}`).join(', ')
      const used = `select client from free_request where client in (${parameters})`
      if (aliases.length > 0 && (await tx.query(used, [...aliases])).length > 0) return false
      const taken = await tx.run(
        'insert into free_request (client, at) values ($1, $2) on conflict (client) do nothing',
        [client, atMs],
      )
      if (taken === 0) return false
      const counted = await tx.run(
        `insert into free_day (day, requests) values ($1, 1)
         on conflict (day) do update set requests = free_day.requests + 1 where free_day.requests < $2`,
        [Math.floor(atMs / dayMs), dailyCap],
      )
      if (counted === 0) await tx.run('delete from free_request where client = $1', [client])
      return counted === 1
    })
  }

  /** `from`: columns and tables of the keys. A key is also found by the digest that its last rotation replaced. */
  async function withDigest<R extends DatabaseRow>(digests: readonly string[], from: string): Promise<KeyRow<R>[]> {
    const params = padded(digests)
    const list = params.map((_, at) => `$${at + 1}`).join(', ')
    return database.read<KeyRow<R>>(
      `select k.digest, k.secret_id, k.secret_number, null as secret_expires_at, ${from} where k.digest in (${list})
       union all
       select k.previous_digest, k.previous_secret_id, k.secret_number - 1, k.previous_expires_at, ${from}
       where k.previous_digest in (${list})`,
      params,
    )
  }

  async function joined<R extends DatabaseRow>(
    sql: string,
    params: string[],
  ): Promise<(R & JoinedOrganization) | undefined> {
    const [row] = await database.read<R & JoinedOrganization>(sql, params)
    return row
  }
}

type KeyRow<R> = R &
  JoinedOrganization & {
    digest: string
    secret_id: string | null
    secret_number: number
    secret_expires_at: number | null
    project_archived_at?: number | null
  }

const byDigest = <R, K>(rows: readonly KeyRow<R>[], keyOf: (row: R) => K): FoundKeys<K> =>
  new Map(
    rows.map((row) => [
      row.digest,
      {
        key: keyOf(row),
        organization: joinedOrganization(row),
        secretId: row.secret_id,
        secretNumber: row.secret_number,
        secretExpiresAtMs: row.secret_expires_at,
        ...(row.project_archived_at != null && { isArchived: true as const }),
      },
    ]),
  )

/** Pads the list with its last item to one of a few lengths, because each length is a separate prepared statement. */
function padded(digests: readonly string[]): string[] {
  const length = statementLengths.find((each) => each >= digests.length) ?? digests.length
  return [...digests, ...Array<string>(length - digests.length).fill(digests.at(-1) ?? '')]
}

const statementLengths = [1, 8, 64, 512]
