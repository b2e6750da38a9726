import { readChained } from '../chain/chained-event.ts'
import type { ChainPoint } from '../chain/chain.ts'
import type { KeyAt } from '../chain/checkpoint.ts'
import { handedOver } from '../chain/handover.ts'
import type { TrustedKeys } from '../chain/trusted-keys.ts'
import type { ReadFingerprints } from '../verify-against.ts'
import { inOrder, verifyExport, type ExportedEntry, type HandoversOf } from '../verify-export.ts'
import type { LogReport } from '../verify-log.ts'
import { isManifestSignedBy, type SignedManifest } from './manifest.ts'

/** An object as it was found in a copy of the archive: its events, its manifest, or both. */
export type FoundObject = {
  readonly name: string
  /** Undefined if there is none, `invalid` if the file is not a manifest. */
  readonly manifest: SignedManifest | 'invalid' | undefined
  /** Undefined if there is no file with events. */
  readonly sha256: string | undefined
  readonly entries: () => AsyncIterable<ExportedEntry>
}

export type ArchiveFinding = {
  /** The object, or the one after a gap. */
  readonly name: string
  readonly reason:
    | 'no_manifest'
    | 'invalid_manifest'
    | 'unknown_key' // the manifest was signed with a key that is not trusted
    | 'bad_signature' // the manifest was changed
    | 'misnamed' // the manifest belongs to another object
    | 'no_events' // there is a manifest, but no file with events
    | 'altered' // the file is not the one that the manifest was signed for
    | 'removed' // the service wrote this object, and the copy does not have it
    | 'gap' // events before this object are missing
    | 'overlap' // the object before has the same events
    | 'unlinked' // the manifest was signed after another object than the one before
    | 'log_gap' // events between the end of the archive and the start of the log are in neither
    | 'log_unlinked' // the log does not continue the archive
}

export type ArchiveReport = {
  readonly path: string
  readonly objects: number
  /** Oldest first. */
  readonly findings: readonly ArchiveFinding[]
}

export type ArchiveVerification = {
  /** The events of the objects before the first bad one, as a log of their own. */
  readonly log: LogReport
  readonly archive: ArchiveReport
}

export type ArchiveCopy = {
  readonly path: string
  readonly organizationId: string
  readonly objects: readonly FoundObject[]
}

export type VerifyArchiveParts = {
  readonly keys: TrustedKeys
  readonly handoversOf: HandoversOf
  readonly acceptLate?: number | undefined
  /** The names of the objects that the service has written. */
  readonly written: readonly string[]
  readonly read: ReadFingerprints
  /** The body of an event that the log has. */
  readonly readBody: (sequence: number) => Promise<string | undefined>
}

/** Verifies a copy of the archive: its manifests, its files, the chain over all of them, and that the log continues it. */
export async function verifyArchive(copy: ArchiveCopy, parts: VerifyArchiveParts): Promise<ArchiveVerification> {
  const { keys, handoversOf, acceptLate, written } = parts
  const objects = finished(copy.objects, written).toSorted((one, other) => firstOf(one) - firstOf(other))
  const carried = objects.flatMap(({ manifest }) => (isSigned(manifest) ? manifest.checkpoints : []))
  const keyAt = handedOver(inOrder([...carried, ...(await handoversOf(copy.organizationId))]), keys.keys)
  const findings = objects.flatMap((object, at): ArchiveFinding[] => {
    const reason = problemOf(object, keyAt) ?? linkProblem(object, objects[at - 1])
    return reason === undefined ? [] : [{ name: object.name, reason }]
  })
  const names = new Set(objects.map(({ name }) => name))
  const removed = written.filter((name) => !names.has(name))
  findings.push(...removed.map((name): ArchiveFinding => ({ name, reason: 'removed' })))
  findings.sort((one, other) => (one.name < other.name ? -1 : 1))
  const bad = new Set(findings.map(({ name }) => name))
  const firstBad = objects.findIndex(({ name }) => bad.has(name))
  const good = firstBad === -1 ? objects : objects.slice(0, firstBad)
  const log = await verifyExport(() => entriesOf(good), keys, { handoversOf, acceptLate })
  const last = objects.at(-1)
  const reason = last && findings.length === 0 && !log.finding ? await logProblem(log.end, parts) : undefined
  if (last && reason) findings.push({ name: last.name, reason })
  return { log, archive: { path: copy.path, objects: objects.length, findings } }
}

/** Without an object that the service is writing now: its events are still in the log. */
const finished = (objects: readonly FoundObject[], written: readonly string[]): readonly FoundObject[] =>
  objects.filter(({ name, manifest }) => manifest !== undefined || written.some((other) => other >= name))

const isSigned = (manifest: FoundObject['manifest']): manifest is SignedManifest =>
  manifest !== undefined && manifest !== 'invalid'

/** The sequence in the name, because a manifest may be missing or forged. */
const firstOf = ({ name }: FoundObject): number => Number(/(\d+)-\d+\.[^/]*$/.exec(name)?.[1] ?? 0)

function problemOf({ name, manifest, sha256 }: FoundObject, keyAt: KeyAt): ArchiveFinding['reason'] | undefined {
  if (manifest === undefined) return 'no_manifest'
  if (manifest === 'invalid') return 'invalid_manifest'
  const { key_id: keyId, last_sequence: last } = manifest
  // A manifest is signed long after its events, and a key may have been handed over in between.
  const key = keyAt(keyId, last) ?? keyAt(keyId, Number.MAX_SAFE_INTEGER)
  if (!key) return 'unknown_key'
  if (!isManifestSignedBy(key, manifest)) return 'bad_signature'
  if (manifest.name !== name) return 'misnamed'
  if (sha256 === undefined) return 'no_events'
  return sha256 === manifest.sha256 ? undefined : 'altered'
}

function linkProblem({ manifest }: FoundObject, before: FoundObject | undefined): ArchiveFinding['reason'] | undefined {
  if (!isSigned(manifest)) return undefined
  if (!before) return manifest.previous === null ? undefined : 'gap'
  // The finding of the object before is enough.
  if (!isSigned(before.manifest)) return undefined
  const expected = before.manifest.last_sequence + 1
  if (manifest.first_sequence > expected) return 'gap'
  if (manifest.first_sequence < expected) return 'overlap'
  return manifest.previous === before.manifest.sha256 ? undefined : 'unlinked'
}

async function* entriesOf(objects: readonly FoundObject[]): AsyncGenerator<ExportedEntry> {
  for (const { name, manifest, entries } of objects) {
    yield* entries()
    if (!isSigned(manifest)) continue
    for (const checkpoint of manifest.checkpoints) yield { where: name, checkpoint, isUnaltered: true }
  }
}

/** Whether the log follows from the last archived event. The log may still have the last archived events. */
async function logProblem(
  end: ChainPoint,
  { read, readBody }: VerifyArchiveParts,
): Promise<'log_gap' | 'log_unlinked' | undefined> {
  const log = await read({ after: end.sequence - 1, to: end.sequence })
  if (log.chainUid !== end.chainUid) return 'log_unlinked'
  if (log.first > end.sequence + 1) return 'log_gap'
  if (log.first <= end.sequence) {
    const same = log.at.find(([sequence]) => sequence === end.sequence)
    return same?.[1] === end.fingerprint ? undefined : 'log_unlinked'
  }
  const next = readChained((await readBody(end.sequence + 1)) ?? '')
  return next?.attestation_list[0].prev_event?.fingerprint.value === end.fingerprint ? undefined : 'log_unlinked'
}
