import { createHash } from 'node:crypto'
import { canonicalize } from '../../domain/audit/event/canonical.ts'
import type { ChainedDocument } from '../../domain/audit/event/document.ts'
import { gzipped } from './compression.ts'

export type StoredObject = {
  readonly key: string
  readonly body: Uint8Array
  readonly contentType: string
  readonly contentEncoding?: string
}

/**
 * A batch as objects: one with the events, and a digest for each checkpoint. The same batch always gives the same keys and
 * bytes, so that an interrupted attempt can be repeated.
 */
export async function objectsOf(batch: readonly ChainedDocument[], prefix = ''): Promise<readonly StoredObject[]> {
  const folder = folderOf(prefix)
  const [first] = batch
  if (!first) return []
  const text = batch.map((document) => `${canonicalize(document)}\n`).join('')
  const last = batch.at(-1) ?? first
  const events: StoredObject = {
    key: folder + keyOf({ first, last, text }),
    body: await gzipped(text),
    contentType: 'application/x-ndjson',
    contentEncoding: 'gzip',
  }
  const checkpoints = batch.filter(({ metadata }) => metadata.event_code === 'audit.checkpoint')
  return [events, ...checkpoints.map((document) => digestOf(document, events, folder))]
}

export const folderOf = (prefix = ''): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`)

type Lines = { readonly first: ChainedDocument; readonly last: ChainedDocument; readonly text: string }

/**
 * Uses the time of the first event, not of sending, in Hive's layout, which Athena and similar tools read. An existing object
 * counts as delivered, so the key contains a hash of its content: another sink may write other events of the same range
 * to the same bucket.
 */
function keyOf({ first, last, text }: Lines): string {
  const time = new Date(first.time).toISOString()
  const range = `${digits(first.metadata.sequence)}-${digits(last.metadata.sequence)}-${sha256(text).slice(0, 12)}`
  return `org=${first.metadata.tenant_uid}/dt=${time.slice(0, 10)}/hour=${time.slice(11, 13)}/${range}.ndjson.gz`
}

/** A signed checkpoint in an object of its own, with the hash of the object that holds its event. */
function digestOf({ metadata, unmapped }: ChainedDocument, events: StoredObject, folder: string): StoredObject {
  const object = { key: events.key, sha256: sha256(events.body) }
  return {
    key: `${folder}_digest/org=${metadata.tenant_uid}/${digits(metadata.sequence)}.json`,
    body: Buffer.from(canonicalize({ checkpoint: unmapped.gatehouse.checkpoint, object })),
    contentType: 'application/json',
  }
}

const digits = (sequence: number): string => String(sequence).padStart(16, '0')
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
