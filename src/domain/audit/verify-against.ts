import type { ChainPoint } from './chain/chain.ts'
import { pointOf, unsignedReason, type CheckpointFinding, type SignedCheckpoint } from './chain/checkpoint.ts'
import { handedOver } from './chain/handover.ts'
import type { TrustedKeys } from './chain/trusted-keys.ts'
import type { Fingerprints } from './log.ts'
import { inOrder, type ExportedEntry, type HandoversOf } from './verify-export.ts'

export type AgainstFinding = {
  readonly sequence: number
  /** File and line of the exported entry that differs from the log. */
  readonly where: string
  readonly reason:
    | 'rewritten' // the log has another event with this sequence
    | 'removed' // the log has no event with this sequence
    | 'cut' // the log ends before this sequence
    | 'copy_altered' // the exported copy itself was changed
    | CheckpointFinding['reason'] // of an exported checkpoint
}

export type AgainstReport = {
  readonly path: string
  /** Events and checkpoints that were compared with the log. */
  readonly events: number
  readonly checkpoints: number
  readonly first: number
  readonly last: number
  /** Exported events that retention has removed from the log. */
  readonly older: number
  /** How many differ, and the first of them. */
  readonly differing: number
  readonly finding?: AgainstFinding
}

/** Returns the range of the log, and the fingerprints after `after` up to `to`. */
export type ReadFingerprints = (range: {
  readonly after: number
  readonly to: number
}) => Promise<Fingerprints & { readonly organization: string }>

export type AgainstParts = {
  readonly keys: TrustedKeys
  readonly read: ReadFingerprints
  /** Needed for an export from before a rotation of the server secret, which does not prove its own signing key. */
  readonly handoversOf: HandoversOf
}

/** The entries of a file or folder of exports. */
export type ExportedLog = { readonly path: string; readonly entries: AsyncIterable<ExportedEntry> }

/**
 * Compares the log with exported copies. This also detects changes by an attacker who has the server secret, because they cannot
 * change copies on other machines. Copies may have gaps and repeated events, as sinks with filters and retries write them.
 */
export async function verifyAgainst(
  { path, entries }: ExportedLog,
  { keys, read, handoversOf }: AgainstParts,
): Promise<AgainstReport> {
  const log = await openLog(read)
  const counts = { events: 0, first: Infinity, last: 0, older: 0, differing: 0 }
  const checkpoints: SignedCheckpoint[] = []
  const positions = new Map<number, string>()
  let finding: AgainstFinding | undefined
  const differ = (found: AgainstFinding): void => {
    counts.differing += 1
    if (!finding || found.sequence < finding.sequence) finding = found
  }
  const compare = async (point: ChainPoint, where: string): Promise<void> => {
    if (point.sequence < log.first) return void (counts.older += 1)
    counts.first = Math.min(counts.first, point.sequence)
    counts.last = Math.max(counts.last, point.sequence)
    const reason = await log.problemOf(point)
    if (reason) differ({ sequence: point.sequence, where, reason })
  }
  for await (const exported of entries) {
    const { row, checkpoint, where } = exported
    if (!isOf(log.organization, exported)) continue
    if (row) {
      counts.events += 1
      if (!exported.isUnaltered) differ({ sequence: row.sequence, where, reason: 'copy_altered' })
      else await compare(row, where)
    }
    if (!checkpoint) continue
    checkpoints.push(checkpoint)
    positions.set(checkpoint.sequence, where)
  }
  const signed = inOrder(checkpoints)
  const keyAt = handedOver(inOrder([...signed, ...(await handoversOf(log.organization))]), keys.keys)
  for (const checkpoint of signed) {
    const where = positions.get(checkpoint.sequence) ?? path
    const reason = unsignedReason(checkpoint, keyAt)
    if (reason) differ({ sequence: checkpoint.sequence, where, reason })
    else await compare(pointOf(checkpoint), where)
  }
  const first = Math.min(counts.first, counts.last)
  return { ...counts, first, path, checkpoints: signed.length, ...(finding && { finding }) }
}

/** A folder may contain the exports of several organizations. */
const isOf = (organization: string, { row, checkpoint }: ExportedEntry): boolean =>
  (row?.organizationId ?? checkpoint?.chain_uid.split('/')[0]) === organization

const pageSize = 2_000
const maxPages = 16

/** Reads the fingerprints of the log in pages, because exports are nearly in order. */
async function openLog(read: ReadFingerprints) {
  const { organization, chainUid, first, last } = await read({ after: 0, to: 0 })
  const pages = new Map<number, ReadonlyMap<number, string>>()
  const pageOf = async (sequence: number): Promise<ReadonlyMap<number, string>> => {
    const after = Math.floor((sequence - 1) / pageSize) * pageSize
    const known = pages.get(after)
    if (known) return known
    const page = new Map((await read({ after, to: after + pageSize })).at)
    pages.set(after, page)
    if (pages.size > maxPages) pages.delete(pages.keys().next().value ?? 0)
    return page
  }
  return {
    organization,
    first,
    async problemOf({
      sequence,
      fingerprint,
      ...point
    }: ChainPoint): Promise<'rewritten' | 'removed' | 'cut' | undefined> {
      if (point.chainUid !== chainUid) return 'rewritten'
      if (sequence > last) return 'cut'
      const found = (await pageOf(sequence)).get(sequence)
      if (found === undefined) return 'removed'
      return found === fingerprint ? undefined : 'rewritten'
    },
  }
}
