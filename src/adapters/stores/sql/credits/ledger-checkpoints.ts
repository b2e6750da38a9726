import { createHmac } from 'node:crypto'
import type { LedgerCheckpoint } from '../../../../domain/credits/ledger-verification.ts'
import type { Keyring } from '../../../../domain/server-secret/keyring.ts'
import type { Database, Statement } from '../database.ts'

export type LedgerCheckpointStore = {
  /** By organization. A checkpoint that this server secret did not write is left out. */
  read(): Promise<Map<string, LedgerCheckpoint>>
  save(checkpoints: readonly LedgerCheckpoint[], verifiedAtMs: number): Promise<void>
}

type CheckpointRow = { organization_id: string; body: string; digest: string }

const rowsPerPage = 1_000
const rowsPerStep = 100

/**
 * Checkpoints of the ledger in SQL. Their digest has a key of the server secret, so that somebody who can only write to the
 * database cannot change an entry together with the sums.
 */
export function ledgerCheckpoints(database: Database, keyring: Keyring): LedgerCheckpointStore {
  const isOwn = ({ body, digest }: CheckpointRow): boolean =>
    keyring.accepted().some((secret) => digestOf(secret.key(purpose), body) === digest)

  return {
    async read() {
      const found = new Map<string, LedgerCheckpoint>()
      const sql = `select organization_id, body, digest from ledger_checkpoint where organization_id > $1
        order by organization_id limit ${rowsPerPage}`
      for (let last = ''; ;) {
        const page = await database.read<CheckpointRow>(sql, [last])
        for (const row of page.filter(isOwn)) {
          // The cast holds because only this store has the key. The body names its organization, so it cannot be moved.
          const checkpoint = JSON.parse(row.body) as LedgerCheckpoint
          found.set(checkpoint.organizationId, checkpoint)
        }
        const end = page.at(-1)
        if (!end || page.length < rowsPerPage) return found
        last = end.organization_id
      }
    },

    async save(checkpoints, verifiedAtMs) {
      const key = keyring.current().key(purpose)
      const statements = checkpoints.map((checkpoint): Statement => {
        const body = JSON.stringify(checkpoint)
        return { sql: upsert, params: [checkpoint.organizationId, verifiedAtMs, body, digestOf(key, body)] }
      })
      for (let at = 0; at < statements.length; at += rowsPerStep)
        await database.write(statements.slice(at, at + rowsPerStep))
    },
  }
}

const purpose = 'ledger checkpoints'

const upsert = `insert into ledger_checkpoint (organization_id, verified_at, body, digest) values ($1, $2, $3, $4)
  on conflict (organization_id) do update set verified_at = excluded.verified_at, body = excluded.body,
    digest = excluded.digest`

const digestOf = (key: Uint8Array, body: string): string => createHmac('sha256', key).update(body).digest('hex')
