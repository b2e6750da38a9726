import type { KeyringEncryption } from '../../../domain/identity/keyring-encryption.ts'
import type { Database, Value } from './database.ts'

/** The seals of everything that is stored encrypted, by where it is stored. */
export type StoredEncryptions = {
  readonly exportSecrets: KeyringEncryption
  readonly keptReplies: KeyringEncryption
  readonly textsKeys: KeyringEncryption
}

/** Encrypted values that need another secret than the current one, and those that no accepted secret decrypts. */
export type EncryptedValues = { readonly otherSecret: number; readonly unreadable: number }

const pageSize = 500

type SealedRow = { place: string; sealed: Uint8Array; one: string; two: string; three: string }

type SealedColumn = {
  readonly seal: KeyringEncryption
  /** Selects `place`, `sealed` and what names the row, behind `$1` in the order of its name. */
  readonly select: string
  /** Replaces `$1` by `$2` in the row that is named by `$3` and so on. */
  readonly update: string
  readonly names: number
}

/** A place is what the text was encrypted for: the same words that its store uses. */
const columnsOf = ({ exportSecrets, keptReplies, textsKeys }: StoredEncryptions): readonly SealedColumn[] => [
  {
    seal: exportSecrets,
    select: `select s.organization_id || ' ' || s.id || ' ' || e.field as place, e.sealed, e.sink_id as one, e.field as two, '' as three
      from export_secret e join export_sink s on s.id = e.sink_id`,
    update: 'update export_secret set sealed = $2 where sealed = $1 and sink_id = $3 and field = $4',
    names: 2,
  },
  {
    seal: keptReplies,
    select: `select organization_id || ' ' || credential_id || ' ' || key as place, reply as sealed,
      organization_id as one, credential_id as two, key as three from idempotency`,
    update:
      'update idempotency set reply = $2 where reply = $1 and organization_id = $3 and credential_id = $4 and key = $5',
    names: 3,
  },
  {
    seal: textsKeys,
    select: `select id as place, texts_key as sealed, id as one, '' as two, '' as three from audit_key where texts_key is not null`,
    update: 'update audit_key set texts_key = $2 where texts_key = $1 and id = $3',
    names: 1,
  },
]

/** Counts what is not encrypted with the current secret. */
export async function countEncrypted(database: Database, seals: StoredEncryptions): Promise<EncryptedValues> {
  const counts = { otherSecret: 0, unreadable: 0 }
  for (const column of columnsOf(seals)) {
    for await (const { sealed, place } of sealedRows(database, column)) {
      if (column.seal.isCurrent(sealed, place)) continue
      if (opened(column.seal, sealed, place) === undefined) counts.unreadable += 1
      else counts.otherSecret += 1
    }
  }
  return counts
}

/** Encrypts everything with the current secret. A value that another writes meanwhile is left to them. */
export async function encryptAgain(database: Database, seals: StoredEncryptions): Promise<void> {
  for (const { seal, update, names, ...column } of columnsOf(seals)) {
    for await (const { sealed, place, one, two, three } of sealedRows(database, { select: column.select })) {
      const text = seal.isCurrent(sealed, place) ? undefined : opened(seal, sealed, place)
      if (text === undefined) continue
      const row: Value[] = [one, two, three].slice(0, names)
      await database.write([{ sql: update, params: [sealed, seal.encrypt(text, place), ...row] }])
    }
  }
}

async function* sealedRows(database: Database, { select }: { select: string }): AsyncGenerator<SealedRow> {
  for (let after = ''; ;) {
    const page = await database.read<SealedRow>(
      `select * from (${select}) as sealed where place > $1 order by place limit ${pageSize}`,
      [after],
    )
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.place
  }
}

function opened(seal: KeyringEncryption, sealed: Uint8Array, place: string): string | undefined {
  try {
    return seal.decrypt(sealed, place)
  } catch {
    return undefined
  }
}

/** How many keys that may still be used have a digest of which server secret; null where that was never noted. */
export type KeysBySecret = ReadonlyMap<string | null, number>

export async function keysBySecret(database: Database, nowMs: number): Promise<KeysBySecret> {
  const isAlive = 'k.revoked_at is null and (k.expires_at is null or k.expires_at > $1)'
  const rows = await database.read<{ secret_id: string | null; count: number }>(
    `select secret_id, count(*) as count from (
       select k.secret_id from api_key k join project p on p.id = k.project_id and p.archived_at is null where ${isAlive}
       union all select k.secret_id from admin_key k where ${isAlive}
     ) as keys group by secret_id`,
    [nowMs],
  )
  return new Map(rows.map(({ secret_id: id, count }) => [id, count]))
}

/** Keeps the key of the digests of texts that were written under a secret that will go. */
export async function keepTextsKey(database: Database, keyId: string, sealed: Uint8Array): Promise<void> {
  const sql = 'update audit_key set texts_key = $2 where id = $1 and texts_key is null'
  await database.write([{ sql, params: [keyId, sealed] }])
}
