import type { Ids } from '../../../../base/ids.ts'
import type { Clock } from '../../../../base/clock.ts'
import {
  deliveryStates,
  type Alert,
  type AlertDelivery,
  type AlertLink,
  type AlertStore,
  type DeliveryState,
  type WatchedAlert,
} from '../../../../domain/alerts/alert.ts'
import type { RuleKind, ThresholdUnit } from '../../../../domain/alerts/rule.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage, type Condition } from '../page.ts'

export type AlertRow = {
  id: string
  organization_id: string
  rule_id: string | null
  rule_name: string
  kind: string
  subject: string
  title: string
  text: string
  figure: number | null
  threshold: number | null
  unit: string | null
  link: string
  started_at: number
  ended_at: number | null
}

export const alertColumns = [
  'id',
  'organization_id',
  'rule_id',
  'rule_name',
  'kind',
  'subject',
  'title',
  'text',
  'figure',
  'threshold',
  'unit',
  'link',
  'started_at',
  'ended_at',
] as const

const columns = alertColumns.join(', ')

export type AlertStoreParts = { readonly ids: Ids; readonly clock: Clock }

/** Alerts and their outbox in SQL, in the given transaction. */
export function alertStore(tx: Transaction, { ids, clock }: AlertStoreParts): AlertStore {
  return {
    async insert(alert) {
      await tx.run(`insert into alert (${columns}) values (${alertColumns.map((_, at) => `$${at + 1}`).join(', ')})`, [
        alert.id,
        alert.organizationId,
        alert.ruleId,
        alert.ruleName,
        alert.kind,
        alert.subject,
        alert.title,
        alert.text,
        alert.figure,
        alert.threshold,
        alert.unit,
        JSON.stringify(alert.link),
        alert.startedAtMs,
        alert.endedAtMs,
      ])
    },
    async end({ organizationId, id }, atMs) {
      const sql = 'update alert set ended_at = $3 where organization_id = $1 and id = $2 and ended_at is null'
      return (await tx.run(sql, [organizationId, id, atMs])) === 1
    },
    async find(organizationId, id) {
      const sql = `select ${columns} from alert where organization_id = $1 and id = $2`
      const [row] = await tx.query<AlertRow>(sql, [organizationId, id])
      return row && alertOf(row)
    },
    async list(organizationId, { isFiring, ruleId, ...page }) {
      const only: Condition[] = isFiring === undefined ? [] : [[`ended_at is ${isFiring ? '' : 'not '}null`]]
      if (ruleId !== undefined) only.push(['rule_id = ?', ruleId])
      const listing = { table: 'alert', columns, where: { organization_id: organizationId }, only, map: alertOf }
      const { items, hasMore } = await selectPage<AlertRow, Alert>(tx, listing, page)
      return { items: await withDeliveries(tx, items), hasMore }
    },
    async send({ id, organizationId }, event, channelIds) {
      if (channelIds?.length === 0) return
      const list = channelIds?.map((_, at) => `$${at + 2}`).join(', ')
      const channels = await tx.query<{ id: string }>(
        `select id from alert_channel where organization_id = $1 and paused = 0
         ${list === undefined ? '' : `and id in (${list})`} order by id`,
        [organizationId, ...(channelIds ?? [])],
      )
      for (const channel of channels)
        await tx.run(
          `insert into alert_delivery (id, organization_id, alert_id, channel_id, event, state, attempts, next_attempt_at, lease_until, created_at)
           values ($1, $2, $3, $4, $5, 'waiting', 0, 0, 0, $6)`,
          [ids('msg'), organizationId, id, channel.id, event, clock.nowMs()],
        )
    },
  }
}

/** Removes alerts that ended before this time, with their messages, and gives up messages that were created before `giveUpMs`. */
export async function removeOldAlerts(
  database: Database,
  { beforeMs, giveUpMs, nowMs }: { readonly beforeMs: number; readonly giveUpMs: number; readonly nowMs: number },
): Promise<void> {
  const old = 'select id from alert where started_at < $1 and ended_at < $1'
  await database.write([
    {
      sql: `update alert_delivery set state = 'given_up', ended_at = $2 where state = 'waiting' and created_at < $1 and lease_until <= $2`,
      params: [giveUpMs, nowMs],
    },
    { sql: `delete from alert_delivery where alert_id in (${old})`, params: [beforeMs] },
    { sql: 'delete from alert where started_at < $1 and ended_at < $1', params: [beforeMs] },
  ])
}

type DeliveryRow = {
  id: string
  alert_id: string
  channel_id: string
  event: string
  state: string
  attempts: number
  next_attempt_at: number
  last_error: string | null
  ended_at: number | null
}

async function withDeliveries(tx: Transaction, alerts: readonly Alert[]): Promise<WatchedAlert[]> {
  if (alerts.length === 0) return []
  const rows = await tx.query<DeliveryRow>(
    `select id, alert_id, channel_id, event, state, attempts, next_attempt_at, last_error, ended_at from alert_delivery
     where alert_id in (${alerts.map((_, at) => `$${at + 1}`).join(', ')}) order by id`,
    alerts.map(({ id }) => id),
  )
  const byAlert = Map.groupBy(rows, ({ alert_id: alertId }) => alertId)
  return alerts.map((alert) => ({ ...alert, deliveries: (byAlert.get(alert.id) ?? []).map(deliveryOf) }))
}

const deliveryOf = (row: DeliveryRow): AlertDelivery => ({
  id: row.id,
  channelId: row.channel_id,
  event: eventOf(row.event),
  state: stateOf(row.state),
  attempts: row.attempts,
  nextAttemptAtMs: row.state === 'waiting' && row.attempts > 0 ? row.next_attempt_at : null,
  lastError: row.last_error,
  endedAtMs: row.ended_at,
})

export const eventOf = (text: string): AlertDelivery['event'] => (text === 'resolved' ? 'resolved' : 'fired')

function stateOf(text: string): DeliveryState {
  const state = deliveryStates.find((each) => each === text)
  if (state === undefined) throw new Error(`${text} is not a state of a message`)
  return state
}

/** The columns were written by this service, so their types hold. */
export const alertOf = (row: AlertRow): Alert => ({
  id: row.id,
  organizationId: row.organization_id,
  ruleId: row.rule_id,
  ruleName: row.rule_name,
  kind: row.kind as RuleKind,
  subject: row.subject,
  title: row.title,
  text: row.text,
  figure: row.figure,
  threshold: row.threshold,
  unit: row.unit as ThresholdUnit | null,
  link: JSON.parse(row.link) as AlertLink,
  startedAtMs: row.started_at,
  endedAtMs: row.ended_at,
})
