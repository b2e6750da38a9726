import type { Encryption } from '../../../../base/encryption.ts'
import { isConfiguration, type Configuration, type Secrets } from '../../../../domain/audit/export/configuration.ts'
import {
  channelKinds,
  type AlertChannel,
  type AlertChannelStore,
  type ChannelKindName,
  type WatchedChannel,
} from '../../../../domain/alerts/channel.ts'
import type { Transaction } from '../database.ts'
import { countRows, selectPage } from '../page.ts'

type ChannelRow = {
  id: string
  organization_id: string
  kind: string
  name: string
  paused: number
  config: string
  version: number
  last_sent_at: number | null
  last_error_at: number | null
  last_error: string | null
  created_at: number
  updated_at: number
  waiting: number
}

const columns = `c.id, c.organization_id, c.kind, c.name, c.paused, c.config, c.version, c.last_sent_at, c.last_error_at,
  c.last_error, c.created_at, c.updated_at,
  (select count(*) from alert_delivery d where d.channel_id = c.id and d.state = 'waiting') as waiting`

/** Alert channels in SQL, in the given transaction. Secrets are encrypted, each bound to its channel and field. */
export function alertChannelStore(tx: Transaction, encryption: Encryption): AlertChannelStore {
  const writeSecrets = async (channel: AlertChannel, secrets: Secrets): Promise<void> => {
    await tx.run('delete from alert_channel_secret where channel_id = $1', [channel.id])
    for (const [field, secret] of Object.entries(secrets))
      await tx.run('insert into alert_channel_secret (channel_id, field, sealed) values ($1, $2, $3)', [
        channel.id,
        field,
        encryption.encrypt(secret, contextOf(channel, field)),
      ])
  }
  return {
    async insert(channel, secrets) {
      const { id, organizationId, kind, name, isPaused, config, version, createdAtMs, updatedAtMs } = channel
      await tx.run(
        `insert into alert_channel (id, organization_id, kind, name, paused, config, version, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [id, organizationId, kind, name, Number(isPaused), JSON.stringify(config), version, createdAtMs, updatedAtMs],
      )
      await writeSecrets(channel, secrets)
    },
    async replace(channel, secrets) {
      const { id, organizationId, name, isPaused, config, version, updatedAtMs } = channel
      const changed = await tx.run(
        `update alert_channel set name = $3, paused = $4, config = $5, version = $6, updated_at = $7
         where organization_id = $1 and id = $2 and version = $6 - 1`,
        [organizationId, id, name, Number(isPaused), JSON.stringify(config), version, updatedAtMs],
      )
      if (changed !== 1) return false
      await writeSecrets(channel, secrets)
      await tx.run(`update alert_delivery set next_attempt_at = 0 where channel_id = $1 and state = 'waiting'`, [id])
      return true
    },
    async remove({ organizationId, id }) {
      await tx.run('delete from alert_channel_secret where channel_id = $1', [id])
      await tx.run('delete from alert_delivery where channel_id = $1 and organization_id = $2', [id, organizationId])
      const sql = 'delete from alert_channel where organization_id = $1 and id = $2'
      return (await tx.run(sql, [organizationId, id])) === 1
    },
    async find(organizationId, id) {
      const sql = `select ${columns} from alert_channel c where c.organization_id = $1 and c.id = $2`
      const [row] = await tx.query<ChannelRow>(sql, [organizationId, id])
      return row && channelOf(row)
    },
    list: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'alert_channel c',
          columns,
          where: { 'c.organization_id': organizationId },
          id: 'c.id',
          map: channelOf,
        },
        page,
      ),
    count: (organizationId) => countRows(tx, { table: 'alert_channel', where: { organization_id: organizationId } }),
    async existing(organizationId, ids) {
      if (ids.length === 0) return []
      const list = ids.map((_, at) => `$${at + 2}`).join(', ')
      const sql = `select id from alert_channel where organization_id = $1 and id in (${list})`
      return (await tx.query<{ id: string }>(sql, [organizationId, ...ids])).map(({ id }) => id)
    },
    async secretsOf(channel) {
      return decryptChannelSecrets(channel, await tx.query<SecretRow>(selectSecrets, [channel.id]), encryption)
    },
  }
}

type SecretRow = { field: string; sealed: Uint8Array }
type ChannelRef = { readonly id: string; readonly organizationId: string }

export const selectSecrets = 'select field, sealed from alert_channel_secret where channel_id = $1'

export const decryptChannelSecrets = (
  channel: ChannelRef,
  rows: readonly SecretRow[],
  encryption: Encryption,
): Secrets =>
  Object.fromEntries(rows.map(({ field, sealed }) => [field, encryption.decrypt(sealed, contextOf(channel, field))]))

/** The encryption context of a secret: moved to another row, it cannot be decrypted. */
const contextOf = ({ organizationId, id }: ChannelRef, field: string): string => `${organizationId} ${id} ${field}`

const channelOf = (row: ChannelRow): WatchedChannel => ({
  id: row.id,
  organizationId: row.organization_id,
  kind: channelKindOf(row.kind),
  name: row.name,
  isPaused: row.paused === 1,
  config: channelConfigOf(row.config),
  version: row.version,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
  health: {
    lastSentAtMs: row.last_sent_at,
    lastErrorAtMs: row.last_error_at,
    lastError: row.last_error,
    waiting: row.waiting,
  },
})

export function channelKindOf(text: string): ChannelKindName {
  const kind = channelKinds.find((each) => each === text)
  if (kind === undefined) throw new Error(`${text} is not a kind of alert channel`)
  return kind
}

export function channelConfigOf(json: string): Configuration {
  const value: unknown = JSON.parse(json)
  return isConfiguration(value) ? value : {}
}
