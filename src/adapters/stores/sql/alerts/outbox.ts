import type { Clock } from '../../../../base/clock.ts'
import type { Encryption } from '../../../../base/encryption.ts'
import { withValues } from '../../../../domain/audit/export/configuration.ts'
import type { AlertOutbox, SendAttempt, ClaimedMessage } from '../../../../domain/alerts/delivery.ts'
import type { Database, Statement } from '../database.ts'
import { alertColumns, alertOf, eventOf, type AlertRow } from './alerts.ts'
import { channelConfigOf, channelKindOf, decryptChannelSecrets, selectSecrets } from './channels.ts'

export type OutboxParts = {
  readonly database: Database
  readonly clock: Clock
  readonly encryption: Encryption
  /** Identifies this process among all senders. */
  readonly owner: string
  /** Longer than the longest attempt to send. */
  readonly leaseMs: number
}

type ClaimedRow = AlertRow & {
  delivery_id: string
  event: string
  attempts: number
  created_at: number
  channel_id: string
  channel_kind: string
  config: string
  organization_name: string
}

/** A later message of the same alert and channel waits, so that no end is reported before its begin. */
const isFirst = `not exists (select 1 from alert_delivery e where e.alert_id = d.alert_id and e.channel_id = d.channel_id
  and e.state = 'waiting' and e.id < d.id)`

const selectClaimed = `select ${alertColumns.map((column) => `a.${column}`).join(', ')}, d.id as delivery_id, d.event, d.attempts,
    d.created_at, c.id as channel_id, c.kind as channel_kind, c.config, o.name as organization_name
  from alert_delivery d join alert a on a.id = d.alert_id join alert_channel c on c.id = d.channel_id
  join organization o on o.id = d.organization_id where d.id = $1 and d.owner = $2 and c.paused = 0`

/** The outbox of alerts in SQL. */
export function alertOutbox({ database, clock, encryption, owner, leaseMs }: OutboxParts): AlertOutbox {
  return {
    async due(kinds, limit) {
      const rows = await database.read<{ id: string; organization_id: string }>(
        `select d.id, d.organization_id from alert_delivery d join alert_channel c on c.id = d.channel_id
         where d.state = 'waiting' and d.next_attempt_at <= $1 and d.lease_until <= $1 and c.paused = 0
         and c.kind in (${kinds.map((kind) => `'${kind}'`).join(', ')}) and ${isFirst}
         order by d.next_attempt_at, d.id limit $2`,
        [clock.nowMs(), limit],
      )
      return rows.map(({ id, organization_id: organizationId }) => ({ id, organizationId }))
    },
    async claim(deliveryId) {
      const nowMs = clock.nowMs()
      const [taken] = await database.write([
        {
          sql: `update alert_delivery set owner = $2, lease_until = $3 where id = $1 and state = 'waiting' and lease_until <= $4`,
          params: [deliveryId, owner, nowMs + leaseMs, nowMs],
        },
      ])
      if (taken?.changed !== 1) return undefined
      const [row] = await database.read<ClaimedRow>(selectClaimed, [deliveryId, owner])
      if (!row) return undefined
      const secrets = await database.read<{ field: string; sealed: Uint8Array }>(selectSecrets, [row.channel_id])
      return claimedOf(row, () =>
        withValues(
          channelConfigOf(row.config),
          decryptChannelSecrets({ id: row.channel_id, organizationId: row.organization_id }, secrets, encryption),
        ),
      )
    },
    async settle(claimed, attempt) {
      await database.write([settlement(claimed.deliveryId, owner, attempt), channelUpdate(claimed.channel.id, attempt)])
    },
  }
}

/** Only if the lease was not lost meanwhile. */
function settlement(deliveryId: string, owner: string, attempt: SendAttempt): Statement {
  const isWaiting = attempt.state === 'waiting'
  return {
    sql: `update alert_delivery set state = $3, attempts = attempts + 1, next_attempt_at = $4, last_error = $5, ended_at = $6,
      owner = null, lease_until = 0 where id = $1 and owner = $2 and state = 'waiting'`,
    params: [
      deliveryId,
      owner,
      attempt.state,
      isWaiting ? attempt.nextAttemptAtMs : 0,
      attempt.state === 'sent' ? null : attempt.error,
      isWaiting ? null : attempt.atMs,
    ],
  }
}

function channelUpdate(channelId: string, attempt: SendAttempt): Statement {
  if (attempt.state === 'sent')
    return { sql: 'update alert_channel set last_sent_at = $2 where id = $1', params: [channelId, attempt.atMs] }
  const sql = 'update alert_channel set last_error_at = $2, last_error = $3 where id = $1'
  return { sql, params: [channelId, attempt.atMs, attempt.error] }
}

const claimedOf = (row: ClaimedRow, openConfig: ClaimedMessage['channel']['openConfig']): ClaimedMessage => ({
  deliveryId: row.delivery_id,
  attempts: row.attempts,
  createdAtMs: row.created_at,
  message: {
    ...alertOf(row),
    // The end of an alert may be known before its begin is sent. The message about the begin does not have it.
    endedAtMs: row.event === 'resolved' ? row.ended_at : null,
    messageId: row.delivery_id,
    event: eventOf(row.event),
    organizationName: row.organization_name,
  },
  channel: { id: row.channel_id, kind: channelKindOf(row.channel_kind), openConfig },
})

/** Releases all leases. For an embedded database, which has one process: earlier lease holders no longer run. */
export async function releaseAlertLeases(database: Database): Promise<void> {
  await database.write([
    { sql: 'update alert_delivery set owner = null, lease_until = 0 where owner is not null' },
    { sql: 'delete from alert_evaluation' },
  ])
}
