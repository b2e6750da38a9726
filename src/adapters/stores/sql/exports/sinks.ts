import type { Encryption } from '../../../../base/encryption.ts'
import type { Secrets } from '../../../../domain/audit/export/configuration.ts'
import { freshStart } from '../../../../domain/audit/export/cursor.ts'
import type { DeadLetter, ExportSink, ExportStore, SinkStart } from '../../../../domain/audit/export/export-sink.ts'
import { sendsOf } from '../../../../domain/audit/export/sink.ts'
import type { Transaction } from '../database.ts'
import { cursorColumns, cursorValues, watchedOf, watchedSelection, watchedTables, type WatchedRow } from './rows.ts'
import { selectPage } from '../page.ts'

/** Sinks in SQL, inside a transaction. Secrets are encrypted, each bound to its sink and field. */
export function exportStore(tx: Transaction, encryption: Encryption): ExportStore {
  const writeSecrets = async (sink: ExportSink, secrets: Secrets): Promise<void> => {
    await tx.run('delete from export_secret where sink_id = $1', [sink.id])
    for (const [field, secret] of Object.entries(secrets)) {
      const encrypted = encryption.encrypt(secret, contextOf(sink, field))
      await tx.run('insert into export_secret (sink_id, field, sealed) values ($1, $2, $3)', [
        sink.id,
        field,
        encrypted,
      ])
    }
  }

  return {
    async insert(sink, secrets, start) {
      await insertSink(tx, sink)
      await writeSecrets(sink, secrets)
      await insertCursor(tx, sink, start)
    },
    async replace(sink, secrets) {
      const { id, organizationId, label, enabled, config, version, updatedAtMs } = sink
      const text = JSON.stringify(config)
      const [before] = await tx.query<{ config: string }>('select config from export_sink where id = $1', [id])
      const changed = await tx.run(
        `update export_sink set label = $3, enabled = $4, config = $5, sends = $8, version = $6, updated_at = $7
         where organization_id = $1 and id = $2 and version = $6 - 1 and deleted_at is null`,
        [organizationId, id, label, enabled ? 1 : 0, text, version, updatedAtMs, sendsOf(config)],
      )
      if (changed !== 1) return false
      // The files may belong elsewhere now, so all of them are written there.
      if (before?.config !== text) await tx.run('delete from export_cost_file where sink_id = $1', [id])
      await writeSecrets(sink, secrets)
      // The planned batch may belong to the old configuration, so a new one is planned.
      await tx.run(
        `update export_cursor set state = 'healthy', attempt = 0, next_attempt_at = 0, plan_last = null where sink_id = $1`,
        [id],
      )
      return true
    },
    async remove({ organizationId, id }, atMs) {
      const sql = 'update export_sink set deleted_at = $3 where organization_id = $1 and id = $2 and deleted_at is null'
      if ((await tx.run(sql, [organizationId, id, atMs])) !== 1) return false
      await tx.run('delete from export_secret where sink_id = $1', [id])
      await tx.run('delete from export_dead_letter where sink_id = $1', [id])
      await tx.run('delete from export_cost_file where sink_id = $1', [id])
      return true
    },
    async find(organizationId, id) {
      const [row] = await tx.query<WatchedRow>(
        `select ${watchedSelection} from ${watchedTables}
         where s.organization_id = $1 and s.id = $2 and s.deleted_at is null`,
        [organizationId, id],
      )
      return row && watchedOf(row)
    },
    list: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: watchedTables,
          columns: watchedSelection,
          where: { 's.organization_id': organizationId },
          only: [['s.deleted_at is null']],
          id: 's.id',
          map: watchedOf,
        },
        page,
      ),
    async count(organizationId) {
      const sql = 'select count(*) as count from export_sink where organization_id = $1 and deleted_at is null'
      return (await tx.query<{ count: number }>(sql, [organizationId]))[0]?.count ?? 0
    },
    async secretsOf(sink) {
      const sql = 'select field, sealed from export_secret where sink_id = $1'
      const rows = await tx.query<{ field: string; sealed: Uint8Array }>(sql, [sink.id])
      return decryptSecrets(sink, rows, encryption)
    },
    listDeadLetters: ({ id }, page) =>
      selectPage(
        tx,
        { table: 'export_dead_letter', columns: '*', where: { sink_id: id }, by: 'sequence', map: deadLetterOf },
        page,
      ),
    async replay({ id }, ids) {
      const all = 'update export_dead_letter set replay = 1 where sink_id = $1 and replay = 0'
      if (ids === undefined) return tx.run(all, [id])
      const placeholders = ids.map((_, at) => `$${at + 2}`).join(', ')
      return ids.length === 0 ? 0 : tx.run(`${all} and id in (${placeholders})`, [id, ...ids])
    },
  }
}

type SecretRow = { field: string; sealed: Uint8Array }
type SinkRef = { readonly id: string; readonly organizationId: string }

export const decryptSecrets = (sink: SinkRef, rows: readonly SecretRow[], encryption: Encryption): Secrets =>
  Object.fromEntries(rows.map(({ field, sealed }) => [field, encryption.decrypt(sealed, contextOf(sink, field))]))

/** The encryption context of a secret: moved to another row, it cannot be decrypted. */
const contextOf = ({ organizationId, id }: SinkRef, field: string): string => `${organizationId} ${id} ${field}`

async function insertSink(tx: Transaction, sink: ExportSink): Promise<void> {
  const { id, organizationId, type, label, enabled, config, version, createdAtMs, updatedAtMs } = sink
  await tx.run(
    `insert into export_sink (id, organization_id, type, label, enabled, config, sends, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      organizationId,
      type,
      label,
      enabled ? 1 : 0,
      JSON.stringify(config),
      sendsOf(config),
      version,
      createdAtMs,
      updatedAtMs,
    ],
  )
}

/** A new sink starts after the last event, or before the first one that the log holds. */
async function insertCursor(tx: Transaction, sink: ExportSink, start: SinkStart): Promise<void> {
  const [chain] = await tx.query<{ sequence: number; first_sequence: number }>(
    'select sequence, first_sequence from audit_chain where organization_id = $1',
    [sink.organizationId],
  )
  const sequence = start === 'now' ? (chain?.sequence ?? 0) : (chain?.first_sequence ?? 1) - 1
  const empty = { planLast: null, alarmedAtMs: null, lastSuccessAtMs: null, lastErrorAtMs: null, lastError: null }
  const values = cursorValues({ ...freshStart, ...empty, sequence })
  await tx.run(
    `insert into export_cursor (sink_id, organization_id, lease_until, ${cursorColumns.join(', ')})
     values ($1, $2, 0, ${values.map((_, at) => `$${at + 3}`).join(', ')})`,
    [sink.id, sink.organizationId, ...values],
  )
}

type DeadLetterRow = { id: string; sequence: number; reason: string; at: number; attempts: number; replay: number }

const deadLetterOf = (row: DeadLetterRow): DeadLetter => ({
  id: row.id,
  sequence: row.sequence,
  reason: row.reason,
  atMs: row.at,
  attempts: row.attempts,
  isReplaying: row.replay === 1,
})
