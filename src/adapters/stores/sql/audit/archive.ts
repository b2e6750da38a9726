import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../../../base/clock.ts'
import type { Ids } from '../../../../base/ids.ts'
import { manifestNameOf, nameOf, type ArchivedRange } from '../../../../domain/audit/archive/archived-object.ts'
import {
  isManifestSignedBy,
  isSameManifest,
  manifestBytes,
  readManifest,
  sha256Of,
  signManifest,
  type Manifest,
} from '../../../../domain/audit/archive/manifest.ts'
import { createOrKeep, type ArchiveTarget } from '../../../../domain/audit/archive/target.ts'
import { isUnaltered, readChained } from '../../../../domain/audit/chain/chained-event.ts'
import type { SigningKey } from '../../../../domain/audit/chain/checkpoint.ts'
import { DamagedEvent, type StoredEvent } from '../../../../domain/audit/log.ts'
import { compressLines, textSha256Of } from '../../../archive/compressed-lines.ts'
import type { Database } from '../database.ts'
import { archivedObjects, type PlannedObject } from './archived-objects.ts'
import { blockSize } from './block-codec.ts'
import { auditReads } from './events.ts'

export type Archive = {
  readonly target: ArchiveTarget
  readonly ids: Ids
  /** The first one signs the manifests. */
  readonly keys: () => readonly (SigningKey & { readonly publicKey: KeyObject })[]
  readonly onArchived: (events: number) => void
  /** Most events of one object. */
  readonly maxEvents?: number
}

type ArchiveParts = { readonly archive: Archive; readonly database: Database; readonly clock: Clock }

/** Objects have at most this many events, because a compressed object is in memory until it is written. */
const maxArchivedEvents = 50_000

/**
 * Writes the events up to `cut` to the archive: one object for each UTC day, and more for a day with many events. An event counts to
 * the day on which it was signed, so that an object ends with a checkpoint. Rejects if an object cannot be written.
 */
export async function archiveUpTo(parts: ArchiveParts, organizationId: string, cut: number): Promise<void> {
  const objects = archivedObjects(parts.database)
  await objects.removeUnwritable(organizationId)
  for (;;) {
    const planned =
      (await objects.findPlanned(organizationId)) ??
      (await plan(parts, { organizationId, cut, most: parts.archive.maxEvents ?? maxArchivedEvents }))
    if (planned === undefined) return
    try {
      await writeObject(parts, planned)
    } catch (error) {
      // Another node may have written it and then removed its events.
      if (!(await objects.isWritten(planned.id))) throw error
    }
  }
}

type Plan = { readonly organizationId: string; readonly cut: number; readonly most: number }

/** Stores the range of the next object, so that it is the same if the run is interrupted. */
async function plan(parts: ArchiveParts, { organizationId, cut, most }: Plan): Promise<PlannedObject | undefined> {
  const { archive, database } = parts
  const objects = archivedObjects(database)
  const after = await objects.lastPosition(organizationId)
  const day = after === undefined ? undefined : await objects.nextDay(organizationId, { after, cut })
  if (after === undefined || day === undefined) return undefined
  const range: ArchivedRange = {
    organizationId,
    first: after + 1,
    last: Math.min(day.last, after + most),
    day: day.day,
  }
  await objects.insert({ ...range, id: archive.ids('aarc'), name: nameOf(range) }, archive.target.kind)
  return objects.findPlanned(organizationId)
}

async function writeObject(parts: ArchiveParts, planned: PlannedObject): Promise<void> {
  const { archive, database, clock } = parts
  const { target } = archive
  const objects = archivedObjects(database)
  const ends: { first?: StoredEvent; last?: StoredEvent } = {}
  const lines = await compressLines(
    linesOf(parts, planned, (row) => {
      ends.first ??= row
      ends.last = row
    }),
  )
  if (ends.first === undefined || ends.last === undefined) throw new DamagedEvent(planned.first)
  const { name } = planned
  const stored = await createOrKeep(
    target,
    { name, bytes: lines.bytes },
    async (existing) => (await textSha256Of(existing)) === lines.textSha256,
  )
  const manifest: Manifest = {
    name,
    chain_uid: ends.first.chainUid,
    day: planned.day,
    first_sequence: planned.first,
    last_sequence: planned.last,
    count: planned.last - planned.first + 1,
    first_fingerprint: ends.first.fingerprint,
    last_fingerprint: ends.last.fingerprint,
    bytes: stored.length,
    sha256: sha256Of(stored),
    previous: await objects.previousSha256(planned),
    checkpoints: await objects.checkpointsOf(planned),
  }
  await writeManifest(archive, manifest)
  await objects.markWritten(planned.id, { ...manifest, target: target.kind, writtenAtMs: clock.nowMs() })
  archive.onArchived(manifest.count)
}

async function writeManifest({ target, keys }: Archive, manifest: Manifest): Promise<void> {
  const [key] = keys()
  if (!key) throw new Error('there is no key to sign the archive with')
  const bytes = manifestBytes(signManifest(manifest, key))
  await createOrKeep(target, { name: manifestNameOf(manifest.name), bytes }, (existing) => {
    const found = readManifest(Buffer.from(existing).toString())
    if (found === undefined || !isSameManifest(manifest, found)) return false
    return keys().some(({ keyId, publicKey }) => keyId === found.key_id && isManifestSignedBy(publicKey, found))
  })
}

/** The bodies of the events, in pages. After each page it waits as long as the page took, so that requests are not delayed. */
async function* linesOf(
  { database, clock }: ArchiveParts,
  { organizationId, first, last }: PlannedObject,
  onRow: (row: StoredEvent) => void,
): AsyncGenerator<readonly string[]> {
  const reads = auditReads({ query: (sql, params) => database.report(sql, params) })
  for (let after = first - 1; after < last;) {
    const startMs = clock.monotonicMs()
    const rows = await reads.rows(organizationId, { after, last, limit: blockSize })
    for (const [at, row] of rows.entries()) {
      assertUndamaged(row, after + 1 + at)
      onRow(row)
    }
    if (rows.length < Math.min(blockSize, last - after)) throw new DamagedEvent(after + rows.length + 1)
    yield rows.map(({ body }) => body)
    after += rows.length
    if (after < last) await new Promise<void>((resolve) => clock.after(clock.monotonicMs() - startMs, resolve))
  }
}

/** A damaged or altered event is not archived, and so it is not removed: it shows what happened to it. */
function assertUndamaged({ sequence, body, fingerprint }: StoredEvent, expected: number): void {
  const document = sequence === expected ? readChained(body) : undefined
  const isOwn =
    document?.metadata.sequence === sequence && document.attestation_list[0].fingerprint?.value === fingerprint
  if (!isOwn || !isUnaltered(document)) throw new DamagedEvent(expected)
}
