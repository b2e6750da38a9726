import type { Clock } from '../../../../base/clock.ts'
import type { Encryption } from '../../../../base/encryption.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import { withValues } from '../../../../domain/audit/export/configuration.ts'
import { longestWaitMs, type RejectedEvent } from '../../../../domain/audit/export/delivery.ts'
import type { ClaimedSink, DeliveryStore } from '../../../../domain/audit/export/delivery-store.ts'
import { sinkEventFacts } from '../../../../domain/audit/export/sink-events.ts'
import { appendInTransaction } from '../audit/chain.ts'
import { auditReads } from '../audit/events.ts'
import { withBodies } from '../audit/blocks.ts'
import { eventColumns, eventTables, loggedBeforeDamage, listColumns, type EventRow } from '../audit/rows.ts'
import type { Database, Statement, Transaction } from '../database.ts'
import {
  cursorColumns,
  cursorOf,
  cursorSelection,
  cursorValues,
  sinkOf,
  sinkSelection,
  type CursorRow,
  type SinkRow,
} from './rows.ts'
import { decryptSecrets } from './sinks.ts'

export type DeliveryParts = {
  readonly database: Database
  readonly clock: Clock
  readonly events: EventMaker
  readonly encryption: Encryption
  /** Identifies this process among all senders. */
  readonly owner: string
  readonly leaseMs: number
}

type ClaimedRow = SinkRow & CursorRow & { head_sequence: number; first_sequence: number }

export const isActive = 's.enabled = 1 and s.deleted_at is null'
const hasReplay = 'exists (select 1 from export_dead_letter d where d.sink_id = k.sink_id and d.replay = 1)'

/** Compare-and-set: a cursor moves only for the lease holder, from the position it read, and under the same configuration. */
export const leaseGuard = `where sink_id = $1 and owner = $2 and sequence = $3
  and exists (select 1 from export_sink s where s.id = $1 and s.version = $4 and ${isActive})`

export function deliveryStore(parts: DeliveryParts): DeliveryStore {
  const { database, clock, encryption, owner, leaseMs } = parts
  const reads = auditReads({ query: (sql, params) => database.read(sql, params) })
  const changeLease = async (sql: string, params: Statement['params']): Promise<boolean> =>
    (await database.write([{ sql, params: params ?? [] }]))[0]?.changed === 1
  const release = async (sinkId: string): Promise<void> => {
    const sql = 'update export_cursor set owner = null, lease_until = 0 where sink_id = $1 and owner = $2'
    await changeLease(sql, [sinkId, owner])
  }

  return {
    async due(limit) {
      const nowMs = clock.nowMs()
      const rows = await database.read<{ sink_id: string }>(
        `select k.sink_id from export_cursor k join export_sink s on s.id = k.sink_id
         join audit_chain h on h.organization_id = k.organization_id
         where (k.next_attempt_at <= $1 or k.next_attempt_at > $3) and k.lease_until <= $1 and ${isActive} and s.sends = 'events'
           and (h.sequence > k.sequence or k.alarmed_at is not null or ${hasReplay})
         order by k.next_attempt_at limit $2`,
        [nowMs, limit, nowMs + longestWaitMs],
      )
      return rows.map(({ sink_id: id }) => id)
    },
    async claim(sinkId) {
      const nowMs = clock.nowMs()
      const sql = `update export_cursor set owner = $2, lease_until = $3 where sink_id = $1 and lease_until <= $4`
      if (!(await changeLease(sql, [sinkId, owner, nowMs + leaseMs, nowMs]))) return undefined
      const claimed = await readClaimed(database, sinkId, encryption)
      if (!claimed) await release(sinkId)
      return claimed
    },
    renew: (sinkId) =>
      changeLease('update export_cursor set lease_until = $3 where sink_id = $1 and owner = $2', [
        sinkId,
        owner,
        clock.nowMs() + leaseMs,
      ]),
    release,
    events: reads.events,
    plan: (sink, last) =>
      changeLease(`update export_cursor set plan_last = $5 ${leaseGuard}`, [...guardValues(sink, owner), last]),
    async postpone(sink, untilMs) {
      const sql = `update export_cursor set next_attempt_at = $5 ${leaseGuard}`
      await changeLease(sql, [...guardValues(sink, owner), untilMs])
    },
    async settle(sink, { cursor, rejected, sinkEvents }) {
      const assignments = cursorColumns.map((column, at) => `${column} = $${at + 5}`).join(', ')
      const move: Statement = {
        sql: `update export_cursor set ${assignments} ${leaseGuard}`,
        params: [...guardValues(sink, owner), ...cursorValues(cursor)],
      }
      if (rejected.length === 0 && sinkEvents.length === 0) return changeLease(move.sql, move.params)
      return database.transaction(async (tx) => {
        if ((await tx.run(move.sql, move.params)) !== 1) return false
        for (const event of rejected) await insertDeadLetter(tx, sink, { event, nowMs: clock.nowMs() })
        await appendSinkEvents(tx, sink, sinkEvents)
        return true
      })
    },
    async replays(sinkId, { limit, withTexts = false }) {
      const rows = await database.read<EventRow>(
        `select ${withTexts ? eventColumns : listColumns} from ${eventTables}
         join export_dead_letter d on d.organization_id = e.organization_id and d.sequence = e.sequence
         where d.sink_id = $1 and d.replay = 1 order by d.sequence limit $2`,
        [sinkId, limit],
      )
      const query: Transaction['query'] = (sql, params) => database.read(sql, params)
      return loggedBeforeDamage(await withBodies({ query }, rows[0]?.organization_id ?? '', rows))
    },
    async settleReplays(sink, { delivered, rejected }) {
      await database.write([
        ...delivered.map((sequence) => ({
          sql: 'delete from export_dead_letter where sink_id = $1 and sequence = $2',
          params: [sink.id, sequence],
        })),
        ...rejected.map(({ sequence, reason }) => ({
          sql: `update export_dead_letter set replay = 0, attempts = attempts + 1, reason = $3, at = $4
            where sink_id = $1 and sequence = $2`,
          params: [sink.id, sequence, reason, clock.nowMs()],
        })),
      ])
    },
  }

  async function appendSinkEvents(
    tx: Transaction,
    sink: ClaimedSink,
    sinkEvents: readonly Parameters<typeof sinkEventFacts>[0][],
  ): Promise<void> {
    if (sinkEvents.length === 0) return
    const { organizationId, id: sinkId, label } = sink
    const about = { organizationId, sinkId, label, nowMs: clock.nowMs() }
    const { makeEvent, authorityUid } = parts.events
    const events = sinkEvents.map((each) => makeEvent(sinkEventFacts(each, about)))
    await appendInTransaction(tx, events, { organizationId, authorityUid })
  }
}

/** Releases all leases. For an embedded database, which has one process: earlier lease holders no longer run. */
export async function releaseAllLeases(database: Database): Promise<void> {
  await database.write([{ sql: 'update export_cursor set owner = null, lease_until = 0 where owner is not null' }])
}

export const guardValues = (sink: ClaimedSink, owner: string) => [sink.id, owner, sink.cursor.sequence, sink.version]

async function readClaimed(
  database: Database,
  sinkId: string,
  encryption: Encryption,
): Promise<ClaimedSink | undefined> {
  const [row] = await database.read<ClaimedRow>(
    `select ${sinkSelection}, ${cursorSelection}, h.sequence as head_sequence, h.first_sequence
     from export_sink s join export_cursor k on k.sink_id = s.id
     join audit_chain h on h.organization_id = s.organization_id where s.id = $1 and ${isActive}`,
    [sinkId],
  )
  if (!row) return undefined
  const sql = 'select field, sealed from export_secret where sink_id = $1'
  const secrets = await database.read<{ field: string; sealed: Uint8Array }>(sql, [sinkId])
  const { id, organizationId, type, label, version, config } = sinkOf(row)
  return {
    id,
    organizationId,
    type,
    label,
    version,
    openConfig: () => withValues(config, decryptSecrets({ id, organizationId }, secrets, encryption)),
    cursor: cursorOf(row),
    firstSequence: row.first_sequence,
    headSequence: row.head_sequence,
  }
}

type Rejection = { readonly event: RejectedEvent; readonly nowMs: number }

async function insertDeadLetter(tx: Transaction, sink: ClaimedSink, { event, nowMs }: Rejection): Promise<void> {
  await tx.run(
    `insert into export_dead_letter (sink_id, organization_id, sequence, id, reason, at, attempts, replay)
     values ($1, $2, $3, $4, $5, $6, 1, 0) on conflict (sink_id, sequence) do nothing`,
    [sink.id, sink.organizationId, event.sequence, event.id, event.reason, nowMs],
  )
}
