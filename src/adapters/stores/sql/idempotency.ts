import type { Encryption } from '../../../base/encryption.ts'
import type { IdempotencyScope, IdempotencyStore } from '../../../domain/identity/idempotency.ts'
import type { Database, Transaction } from './database.ts'

export type IdempotencyParts = { readonly engine: Database['engine']; readonly seal: Encryption }

/** Answers kept for a day, inside the transaction that made them. They are sealed: one may hold a new key's secret. */
export function idempotencyStore(tx: Transaction, { engine, seal }: IdempotencyParts): IdempotencyStore {
  return {
    async claim(scope) {
      // One transaction at a time is all that SQLite has: whoever asks is alone, and finds the other's answer.
      if (engine === 'sqlite') return true
      const [row] = await tx.query<{ taken: number }>(
        'select case when pg_try_advisory_xact_lock(hashtextextended($1, 0)) then 1 else 0 end as taken',
        [placeOf(scope)],
      )
      return row?.taken === 1
    },
    async find(scope, nowMs) {
      const [row] = await tx.query<{ fingerprint: string; reply: Uint8Array }>(
        `select fingerprint, reply from idempotency
         where organization_id = $1 and credential_id = $2 and key = $3 and expires_at > $4`,
        [...columnsOf(scope), nowMs],
      )
      return row && { fingerprint: row.fingerprint, reply: JSON.parse(seal.decrypt(row.reply, placeOf(scope))) }
    },
    async save(scope, { fingerprint, reply, expiresAtMs }) {
      await tx.run(
        `insert into idempotency (organization_id, credential_id, key, fingerprint, reply, expires_at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (organization_id, credential_id, key) do update
         set fingerprint = excluded.fingerprint, reply = excluded.reply, expires_at = excluded.expires_at`,
        [...columnsOf(scope), fingerprint, seal.encrypt(JSON.stringify(reply), placeOf(scope)), expiresAtMs],
      )
    },
  }
}

/** Removes the replies whose day is over. */
export async function removeExpiredReplies(database: Database, nowMs: number): Promise<void> {
  await database.write([{ sql: 'delete from idempotency where expires_at <= $1', params: [nowMs] }])
}

const columnsOf = ({ organizationId, credentialId, key }: IdempotencyScope) => [organizationId, credentialId, key]

/** Keys are visible characters, so that the separator cannot be part of one. */
const placeOf = (scope: IdempotencyScope): string => columnsOf(scope).join(' ')
