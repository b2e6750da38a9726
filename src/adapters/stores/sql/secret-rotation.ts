import type { SecretKey } from '../../../domain/server-secret/secret-rotation.ts'
import type { KeyringEncryption } from '../../../domain/server-secret/keyring-encryption.ts'
import type { Database, Value } from './database.ts'

/** The encryption of each kind of stored value. */
export type StoredEncryptions = {
  readonly exportSecrets: KeyringEncryption
  readonly alertSecrets: KeyringEncryption
  readonly keptReplies: KeyringEncryption
  readonly textsKeys: KeyringEncryption
  readonly ledgerBalances: KeyringEncryption
  readonly upstreamSecrets: KeyringEncryption
  readonly caseTexts: KeyringEncryption
  readonly appealTexts: KeyringEncryption
  readonly replaySample: KeyringEncryption
}

/** Encrypted values that need another secret than the current one, and those that no accepted secret decrypts. */
export type EncryptedValues = { readonly otherSecret: number; readonly unreadable: number }

const pageSize = 500

type EncryptedRow = { place: string; sealed: Uint8Array; one: string; two: string; three: string }

type EncryptedColumn = {
  readonly encryption: KeyringEncryption
  /** Selects the encryption context (`place`), the encrypted value (`sealed`) and the key columns of each row. */
  readonly select: string
  /** Replaces `$1` by `$2` in the row with the key columns `$3` and so on. */
  readonly update: string
  /** Number of key columns. */
  readonly keyColumns: number
}

/** The encryption context of each value must equal the one that its store uses. */
const columnsOf = ({
  exportSecrets,
  alertSecrets,
  keptReplies,
  textsKeys,
  ledgerBalances,
  upstreamSecrets,
  caseTexts,
  appealTexts,
  replaySample,
}: StoredEncryptions): readonly EncryptedColumn[] => [
  {
    encryption: exportSecrets,
    select: `select s.organization_id || ' ' || s.id || ' ' || e.field as place, e.sealed, e.sink_id as one, e.field as two, '' as three
      from export_secret e join export_sink s on s.id = e.sink_id`,
    update: 'update export_secret set sealed = $2 where sealed = $1 and sink_id = $3 and field = $4',
    keyColumns: 2,
  },
  {
    encryption: alertSecrets,
    select: `select c.organization_id || ' ' || c.id || ' ' || e.field as place, e.sealed, e.channel_id as one, e.field as two, '' as three
      from alert_channel_secret e join alert_channel c on c.id = e.channel_id`,
    update: 'update alert_channel_secret set sealed = $2 where sealed = $1 and channel_id = $3 and field = $4',
    keyColumns: 2,
  },
  {
    encryption: keptReplies,
    select: `select organization_id || ' ' || credential_id || ' ' || key as place, reply as sealed,
      organization_id as one, credential_id as two, key as three from idempotency`,
    update:
      'update idempotency set reply = $2 where reply = $1 and organization_id = $3 and credential_id = $4 and key = $5',
    keyColumns: 3,
  },
  {
    encryption: textsKeys,
    select: `select id as place, texts_key as sealed, id as one, '' as two, '' as three from audit_key where texts_key is not null`,
    update: 'update audit_key set texts_key = $2 where texts_key = $1 and id = $3',
    keyColumns: 1,
  },
  {
    encryption: ledgerBalances,
    select: `select organization_id || ' ' || month as place, sealed, organization_id as one, month as two, '' as three
      from ledger_balance`,
    update: 'update ledger_balance set sealed = $2 where sealed = $1 and organization_id = $3 and month = $4',
    keyColumns: 2,
  },
  {
    encryption: upstreamSecrets,
    select: `select u.organization_id || ' ' || u.id || ' ' || s.field as place, s.sealed, s.upstream_id as one, s.field as two, '' as three
      from stored_upstream_secret s join stored_upstream u on u.id = s.upstream_id`,
    update: 'update stored_upstream_secret set sealed = $2 where sealed = $1 and upstream_id = $3 and field = $4',
    keyColumns: 2,
  },
  {
    encryption: caseTexts,
    select: `select organization_id || ' ' || id as place, sealed, id as one, '' as two, '' as three from policy_case`,
    update: 'update policy_case set sealed = $2 where sealed = $1 and id = $3',
    keyColumns: 1,
  },
  {
    encryption: appealTexts,
    select: `select organization_id || ' ' || id as place, sealed_note as sealed, id as one, '' as two, '' as three from appeal where sealed_note is not null`,
    update: 'update appeal set sealed_note = $2 where sealed_note = $1 and id = $3',
    keyColumns: 1,
  },
  {
    encryption: appealTexts,
    select: `select organization_id || ' ' || id || ' reason' as place, sealed_reason as sealed, id as one, '' as two, '' as three from appeal where sealed_reason is not null`,
    update: 'update appeal set sealed_reason = $2 where sealed_reason = $1 and id = $3',
    keyColumns: 1,
  },
  {
    encryption: appealTexts,
    select: `select organization_id || ' ' || id as place, sealed_note as sealed, id as one, '' as two, '' as three from label where sealed_note is not null`,
    update: 'update label set sealed_note = $2 where sealed_note = $1 and id = $3',
    keyColumns: 1,
  },
  {
    encryption: replaySample,
    select: `select organization_id || ' ' || event_id as place, sealed, event_id as one, '' as two, '' as three from replay_sample`,
    update: 'update replay_sample set sealed = $2 where sealed = $1 and event_id = $3',
    keyColumns: 1,
  },
]

/** Counts the values that are not encrypted with the current secret. */
export async function countEncrypted(database: Database, encryptions: StoredEncryptions): Promise<EncryptedValues> {
  const counts = { otherSecret: 0, unreadable: 0 }
  for (const column of columnsOf(encryptions)) {
    for await (const { sealed: encrypted, place: context } of encryptedRows(database, column)) {
      if (column.encryption.isCurrent(encrypted, context)) continue
      if (decrypted(column.encryption, encrypted, context) === undefined) counts.unreadable += 1
      else counts.otherSecret += 1
    }
  }
  return counts
}

/** Encrypts every value with the current secret. A value that changes meanwhile is not overwritten. */
export async function encryptAgain(database: Database, encryptions: StoredEncryptions): Promise<void> {
  for (const { encryption, update, keyColumns, ...column } of columnsOf(encryptions)) {
    for await (const row of encryptedRows(database, { select: column.select })) {
      const { sealed: encrypted, place: context, one, two, three } = row
      const text = encryption.isCurrent(encrypted, context) ? undefined : decrypted(encryption, encrypted, context)
      if (text === undefined) continue
      const keys: Value[] = [one, two, three].slice(0, keyColumns)
      await database.write([{ sql: update, params: [encrypted, encryption.encrypt(text, context), ...keys] }])
    }
  }
}

async function* encryptedRows(database: Database, { select }: { select: string }): AsyncGenerator<EncryptedRow> {
  for (let after = ''; ;) {
    const page = await database.read<EncryptedRow>(
      `select * from (${select}) as sealed where place > $1 order by place limit ${pageSize}`,
      [after],
    )
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.place
  }
}

function decrypted(encryption: KeyringEncryption, encrypted: Uint8Array, context: string): string | undefined {
  try {
    return encryption.decrypt(encrypted, context)
  } catch {
    return undefined
  }
}

/** Number of active secrets of keys by the server secret of their digest; null if that is unknown. */
export type KeysBySecret = ReadonlyMap<string | null, number>

export async function keysBySecret(database: Database, nowMs: number): Promise<KeysBySecret> {
  const rows = await database.read<{ secret_id: string | null; count: number }>(
    `select secret_id, count(*) as count from ${activeSecrets} group by secret_id`,
    [nowMs],
  )
  return new Map(rows.map(({ secret_id: id, count }) => [id, count]))
}

/** The secrets of keys that work at the time `$1`. A key that was rotated has two for a while. */
const activeSecrets = (() => {
  const isAlive = 'k.revoked_at is null and (k.expires_at is null or k.expires_at > $1)'
  const inProject = 'join project p on p.id = k.project_id and p.archived_at is null'
  const columns = 'k.id, k.name, k.organization_id'
  return `(select ${columns}, k.secret_id from api_key k ${inProject} where ${isAlive}
    union all select ${columns}, k.secret_id from admin_key k where ${isAlive}
    union all select ${columns}, k.previous_secret_id from api_key k ${inProject}
      where ${isAlive} and k.previous_expires_at > $1
    union all select ${columns}, k.previous_secret_id from admin_key k where ${isAlive} and k.previous_expires_at > $1
  ) as keys`
})()

type NamedKeyRow = { id: string; name: string; organization_id: string; secret_id: string | null }

/** Keys with a digest of another server secret than these, in the order of their ids. */
export async function keysOfOtherSecrets(
  database: Database,
  {
    secretIds,
    nowMs,
    limit,
  }: { readonly secretIds: readonly string[]; readonly nowMs: number; readonly limit: number },
): Promise<readonly SecretKey[]> {
  const others = secretIds.map((_, at) => `$${at + 2}`).join(', ')
  const rows = await database.read<NamedKeyRow>(
    `select id, name, organization_id, secret_id from ${activeSecrets}
     where secret_id is null or secret_id not in (${others}) order by id limit ${limit}`,
    [nowMs, ...secretIds],
  )
  return rows.map(({ id, name, organization_id: organizationId, secret_id: secretId }) => ({
    id,
    name,
    organizationId,
    secretId,
  }))
}

/** Stores the key for text digests of a server secret that is going to be removed. */
export async function keepTextsKey(database: Database, keyId: string, encryptedKey: Uint8Array): Promise<void> {
  const sql = 'update audit_key set texts_key = $2 where id = $1 and texts_key is null'
  await database.write([{ sql, params: [keyId, encryptedKey] }])
}
