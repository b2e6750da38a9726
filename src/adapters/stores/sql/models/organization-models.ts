import type { Encryption } from '../../../../base/encryption.ts'
import type { Configuration, Secrets } from '../../../../domain/audit/export/configuration.ts'
import type { OrganizationModelStore, StoredEntry } from '../../../../domain/organization-models/stored.ts'
import type { Transaction } from '../database.ts'

/** Upstreams and models that organizations added. Secrets are encrypted, each bound to its upstream and field. */
export function organizationModelStore(tx: Transaction, encryption: Encryption): OrganizationModelStore {
  const list = async (table: Table, organizationId: string): Promise<readonly StoredEntry[]> =>
    (await tx.query<EntryRow>(`select * from ${table} where organization_id = $1 order by id`, [organizationId])).map(
      entryOf,
    )

  const insert = async (table: Table, entry: StoredEntry): Promise<boolean> => {
    const { id, organizationId, name, settings, isPaused, revision, createdAtMs, updatedAtMs } = entry
    const inserted = await tx.run(
      `insert into ${table} (id, organization_id, name, settings, paused, revision, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (organization_id, name) do nothing`,
      [id, organizationId, name, JSON.stringify(settings), isPaused ? 1 : 0, revision, createdAtMs, updatedAtMs],
    )
    return inserted === 1
  }

  const replace = async (table: Table, entry: StoredEntry): Promise<boolean> => {
    const { id, organizationId, settings, isPaused, revision, updatedAtMs } = entry
    const changed = await tx.run(
      `update ${table} set settings = $3, paused = $4, revision = $5, updated_at = $6
       where organization_id = $1 and id = $2 and revision = $5 - 1`,
      [organizationId, id, JSON.stringify(settings), isPaused ? 1 : 0, revision, updatedAtMs],
    )
    return changed === 1
  }

  const remove = async (table: Table, { organizationId, id }: StoredEntry): Promise<boolean> =>
    (await tx.run(`delete from ${table} where organization_id = $1 and id = $2`, [organizationId, id])) === 1

  const removeSecrets = (upstream: StoredEntry): Promise<number> =>
    tx.run('delete from stored_upstream_secret where upstream_id = $1', [upstream.id])

  const insertSecrets = async (upstream: StoredEntry, secrets: Secrets): Promise<void> => {
    for (const [field, secret] of Object.entries(secrets)) {
      const encrypted = encryption.encrypt(secret, contextOf(upstream, field))
      const sql = 'insert into stored_upstream_secret (upstream_id, field, sealed) values ($1, $2, $3)'
      await tx.run(sql, [upstream.id, field, encrypted])
    }
  }

  const secretsFrom = (upstream: StoredEntry, rows: readonly SecretRow[]): Secrets =>
    Object.fromEntries(
      rows
        .filter(({ upstream_id: id }) => id === upstream.id)
        .map(({ field, sealed }) => [field, encryption.decrypt(sealed, contextOf(upstream, field))]),
    )

  return {
    async load(organizationId) {
      const [upstreams, models] = await Promise.all([
        list('stored_upstream', organizationId),
        list('stored_model', organizationId),
      ])
      if (upstreams.length === 0 && models.length === 0) return undefined
      const [rows, [organization]] = await Promise.all([
        tx.query<SecretRow>(
          `select s.upstream_id, s.field, s.sealed from stored_upstream_secret s
           join stored_upstream u on u.id = s.upstream_id where u.organization_id = $1`,
          [organizationId],
        ),
        tx.query<{ metered: number }>('select metered from organization where id = $1', [organizationId]),
      ])
      const secrets = upstreams.flatMap((upstream): (readonly [string, Secrets])[] => {
        const decrypted = ifDecrypted(() => secretsFrom(upstream, rows))
        return decrypted === undefined ? [] : [[upstream.id, decrypted]]
      })
      return { upstreams, models, secrets: new Map(secrets), isMetered: organization?.metered === 1 }
    },
    async lock(organizationId) {
      await tx.run('update organization set version = version where id = $1', [organizationId])
    },
    listUpstreams: (organizationId) => list('stored_upstream', organizationId),
    listModels: (organizationId) => list('stored_model', organizationId),
    async secretsOf(upstream) {
      const sql = 'select upstream_id, field, sealed from stored_upstream_secret where upstream_id = $1'
      return secretsFrom(upstream, await tx.query<SecretRow>(sql, [upstream.id]))
    },
    async insertUpstream(upstream, secrets) {
      if (!(await insert('stored_upstream', upstream))) return false
      await insertSecrets(upstream, secrets)
      return true
    },
    async replaceUpstream(upstream, secrets) {
      if (!(await replace('stored_upstream', upstream))) return false
      await removeSecrets(upstream)
      await insertSecrets(upstream, secrets)
      return true
    },
    async removeUpstream(upstream) {
      await removeSecrets(upstream)
      return remove('stored_upstream', upstream)
    },
    insertModel: (model) => insert('stored_model', model),
    replaceModel: (model) => replace('stored_model', model),
    removeModel: (model) => remove('stored_model', model),
  }
}

type Table = 'stored_upstream' | 'stored_model'

type EntryRow = {
  id: string
  organization_id: string
  name: string
  settings: string
  paused: number
  revision: number
  created_at: number
  updated_at: number
}

type SecretRow = { upstream_id: string; field: string; sealed: Uint8Array }

const entryOf = (row: EntryRow): StoredEntry => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  settings: JSON.parse(row.settings) as Configuration,
  isPaused: row.paused === 1,
  revision: row.revision,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

/** The encryption context of a secret: moved to another row, it cannot be decrypted. */
const contextOf = ({ organizationId, id }: StoredEntry, field: string): string => `${organizationId} ${id} ${field}`

/** Undefined if no accepted server secret decrypts it. */
function ifDecrypted(decrypt: () => Secrets): Secrets | undefined {
  try {
    return decrypt()
  } catch {
    return undefined
  }
}
