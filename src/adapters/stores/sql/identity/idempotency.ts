import type { Encryption } from '../../../../base/encryption.ts'
import type { IdempotencyScope, IdempotencyStore } from '../../../../domain/mutations/idempotency.ts'
import type { Database, Transaction } from '../database.ts'

export type IdempotencyParts = { readonly engine: Database['engine']; readonly encryption: Encryption }

/** Stores replies for a day, inside the transaction of the request. They are encrypted, because a reply may contain the secret of a new key. */
export function idempotencyStore(tx: Transaction, { engine, encryption }: IdempotencyParts): IdempotencyStore {
  return {
    async claim(scope) {
      // SQLite runs one transaction at a time, so no other request can hold the claim.
      if (engine === 'sqlite') return true
      const [row] = await tx.query<{ taken: number }>(
        'select case when pg_try_advisory_xact_lock(hashtextextended($1, 0)) then 1 else 0 end as taken',
        [contextOf(scope)],
      )
      return row?.taken === 1
    },
    async find(scope, nowMs) {
      const [row] = await tx.query<{ fingerprint: string; reply: Uint8Array }>(
        `select fingerprint, reply from idempotency
         where organization_id = $1 and credential_id = $2 and key = $3 and expires_at > $4`,
        [...columnsOf(scope), nowMs],
      )
      return row && { fingerprint: row.fingerprint, reply: JSON.parse(encryption.decrypt(row.reply, contextOf(scope))) }
    },
    async save(scope, { fingerprint, reply, expiresAtMs }) {
      await tx.run(
        `insert into idempotency (organization_id, credential_id, key, fingerprint, reply, expires_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (organization_id, credential_id, key) do update
         set fingerprint = excluded.fingerprint, reply = excluded.reply, expires_at = excluded.expires_at`,
        [...columnsOf(scope), fingerprint, encryption.encrypt(JSON.stringify(reply), contextOf(scope)), expiresAtMs],
      )
    },
  }
}

/** Removes expired replies. */
export async function removeExpiredReplies(database: Database, nowMs: number): Promise<void> {
  await database.write([{ sql: 'delete from idempotency where expires_at <= $1', params: [nowMs] }])
}

const columnsOf = ({ organizationId, credentialId, key }: IdempotencyScope) => [organizationId, credentialId, key]

/** Keys contain visible characters only, so the separator cannot be part of one. */
const contextOf = (scope: IdempotencyScope): string => columnsOf(scope).join(' ')
