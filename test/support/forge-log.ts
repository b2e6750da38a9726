import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { auditReads } from '../../src/adapters/stores/sql/audit/events.ts'
import { insertionsOf } from '../../src/adapters/stores/sql/audit/rows.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { appendToChain, startOfChain } from '../../src/domain/audit/chain/chain.ts'
import {
  keyIdOf,
  signCheckpoint,
  type SignedCheckpoint,
  type SigningKey,
} from '../../src/domain/audit/chain/checkpoint.ts'
import { checkpointFacts, checkpointIn } from '../../src/domain/audit/chain/checkpoint-event.ts'
import { readChained, type ChainedEvent } from '../../src/domain/audit/chain/chained-event.ts'
import type { AuditDocument, ChainedDocument } from '../../src/domain/audit/event/document.ts'
import { createEvent } from '../../src/domain/audit/event/event.ts'

export type Forgery = {
  /** Returns the changed event, or undefined to remove it. */
  readonly change: (document: ChainedDocument) => AuditDocument | undefined
  /** Signs the forged log. Without a key the checkpoints are removed. */
  readonly key?: SigningKey & { readonly publicKey: KeyObject }
}

export function untrustedKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey, keyId: keyIdOf(publicKey) }
}

/** Rewrites the whole log of org_1, as anybody with write access to the database can, and signs it if a key is given. */
export async function forgeLog(database: Database, { change, key }: Forgery): Promise<void> {
  const stored = await auditReads({ query: (sql, params) => database.read(sql, params) }).rows('org_1', {
    after: 0,
    limit: 1e6,
  })
  const documents = stored.flatMap(({ body }) => readChained(body) ?? [])
  const rows: ChainedEvent[] = []
  const checkpoints: SignedCheckpoint[] = []
  let head = startOfChain('org_1')
  const append = (document: AuditDocument, authorityUid: string): void => {
    const appended = appendToChain(head, [document], authorityUid)
    rows.push(...appended.rows)
    head = appended.head
  }
  for (const document of documents) {
    const checkpoint = checkpointIn(document)
    const { attestation_list: list, ...kept } = document
    const { authority_uid: authorityUid } = list[0]
    if (!checkpoint) {
      const changed = change(document)
      if (changed) append(changed, authorityUid)
    } else if (key) {
      const signed = signCheckpoint({ ...head, timeMs: checkpoint.time }, checkpoints.at(-1), key)
      checkpoints.push(signed)
      const parts = { id: kept.metadata.uid, loggedMs: checkpoint.time, productVersion: '0' }
      append(createEvent(checkpointFacts('org_1', signed), parts).document, authorityUid)
    }
  }
  await database.write([
    { sql: 'delete from audit_event' },
    { sql: 'delete from audit_body' },
    { sql: 'delete from audit_block' },
    { sql: 'delete from audit_checkpoint' },
    { sql: 'delete from audit_content' },
    ...insertionsOf(rows),
    ...checkpoints.map((signed) => ({
      sql: 'insert into audit_checkpoint (organization_id, sequence, time, checkpoint) values ($1, $2, $3, $4)',
      params: ['org_1', signed.sequence, signed.time, JSON.stringify(signed)],
    })),
    {
      sql: 'update audit_chain set sequence = $1, fingerprint = $2, event_id = $3, type_uid = $4, signed_sequence = $5',
      params: [head.sequence, head.fingerprint, head.eventUid, head.typeUid, checkpoints.at(-1)?.sequence ?? 0],
    },
  ])
}

/** Stores a public key in the table of published keys. */
export const plantKey = (
  database: Database,
  { id, publicKey }: { id: string; publicKey: KeyObject },
): Promise<unknown> =>
  database.write([
    {
      sql: `insert into audit_key (id, public_key, created_at) values ($1, $2, 1)
        on conflict (id) do update set public_key = excluded.public_key`,
      params: [id, publicKey.export({ type: 'spki', format: 'pem' })],
    },
  ])
