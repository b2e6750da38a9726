import { createHash } from 'node:crypto'
import { canonicalize } from '../../domain/audit/document/canonical.ts'
import type { SealedDocument } from '../../domain/audit/document/document.ts'
import { gzipped } from './bodies.ts'

export type StoredObject = {
  readonly key: string
  readonly body: Uint8Array
  readonly contentType: string
  readonly contentEncoding?: string
}

/**
 * A batch as objects: the events, and one digest for each checkpoint among them. The same batch gives the same keys
 * and bytes whenever it is sent, so that an attempt that was cut short can be repeated.
 */
export async function objectsOf(batch: readonly SealedDocument[], prefix = ''): Promise<readonly StoredObject[]> {
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  const [first] = batch
  if (!first) return []
  const events: StoredObject = {
    key: folder + keyOf(batch, first),
    body: await gzipped(batch.map((document) => `${canonicalize(document)}\n`).join('')),
    contentType: 'application/x-ndjson',
    contentEncoding: 'gzip',
  }
  const checkpoints = batch.filter(({ metadata }) => metadata.event_code === 'audit.checkpoint')
  return [events, ...checkpoints.map((document) => digestOf(document, events, folder))]
}

/** By the time of the first event and never that of sending: Hive's layout, which Athena and its kind read. */
function keyOf(batch: readonly SealedDocument[], first: SealedDocument): string {
  if (first.metadata.event_code === 'export.test') return `_connection_test/${first.metadata.uid}.ndjson.gz`
  const time = new Date(first.time).toISOString()
  const last = batch.at(-1) ?? first
  const range = `${digits(first.metadata.sequence)}-${digits(last.metadata.sequence)}`
  return `org=${first.metadata.tenant_uid}/dt=${time.slice(0, 10)}/hour=${time.slice(11, 13)}/${range}.ndjson.gz`
}

/** A signed checkpoint on its own, easy to find, with the hash of the object that it came in. */
function digestOf({ metadata, unmapped }: SealedDocument, events: StoredObject, folder: string): StoredObject {
  const object = { key: events.key, sha256: createHash('sha256').update(events.body).digest('hex') }
  return {
    key: `${folder}_digest/org=${metadata.tenant_uid}/${digits(metadata.sequence)}.json`,
    body: Buffer.from(canonicalize({ checkpoint: unmapped.gatehouse.checkpoint, object })),
    contentType: 'application/json',
  }
}

const digits = (sequence: number): string => String(sequence).padStart(16, '0')
