import { createPublicKey } from 'node:crypto'
import { startOfChain, type ChainPoint } from './chain/chain.ts'
import { pointOf, verifyCheckpoints, type CheckpointFinding, type SignedCheckpoint } from './chain/checkpoint.ts'
import { readSealed, type SealedEvent } from './chain/sealed.ts'
import type { EventMaker } from './event/event-maker.ts'
import type { AuditReads, ChainStanding, PublishedKey, StoredEvent } from './log.ts'
import { verifyChain, type ChainReport } from './chain/verify.ts'

/** Only these sequences; without them the whole log. */
export type VerifyRange = { readonly from?: number | undefined; readonly to?: number | undefined }

export type LogReport = ChainReport & {
  readonly first: number
  /** Checkpoints whose signature was checked. */
  readonly checkpoints: number
  readonly checkpointFinding?: CheckpointFinding
}

/** Few enough that others get their turn between two pages. */
const pageSize = 200

/** Checks an organization's log in the database: every row, the texts beside it, and all that was signed for. */
export async function verifyLog(
  reads: AuditReads,
  organizationId: string,
  { events, range = {} }: { events: EventMaker; range?: VerifyRange },
): Promise<LogReport> {
  const standing = await reads.standing(organizationId)
  if (!standing) return { checked: 0, first: 1, checkpoints: 0, end: startOfChain(organizationId) }
  const from = await startOf(reads, organizationId, { standing, from: range.from })
  const last = range.to ?? Number.MAX_SAFE_INTEGER
  const within = standing.checkpoints.filter(({ sequence }) => sequence >= from.sequence && sequence <= last)
  // The end of the chain is vouched for by its head, as far as our own database can vouch for anything.
  const ends = range.to === undefined ? [standing.head] : []
  const report = await verifyChain(pages(reads, organizationId, { after: from.sequence, last }), {
    from,
    checkpoints: [...ends, ...within.map(pointOf)],
    extraCheck: (row) => hasOwnContent(row, events),
  })
  return { ...report, first: from.sequence + 1, ...(await checkSignatures(within, await reads.keys())) }
}

/** Checkpoints and the keys that are known for them. */
export async function checkSignatures(
  checkpoints: readonly SignedCheckpoint[],
  keys: readonly Pick<PublishedKey, 'id' | 'publicKey'>[],
) {
  const known = new Map(keys.map(({ id, publicKey }) => [id, createPublicKey(publicKey)]))
  const finding = await verifyCheckpoints(checkpoints, known)
  return { checkpoints: checkpoints.length, ...(finding && { checkpointFinding: finding }) }
}

type Start = { readonly standing: ChainStanding; readonly from: number | undefined }

/** The place before the first row: the start of all, the checkpoint that retention left, or simply the row before. */
async function startOf(reads: AuditReads, organizationId: string, { standing, from }: Start): Promise<ChainPoint> {
  const { firstSequence, checkpoints } = standing
  const before = Math.max(from ?? firstSequence, firstSequence) - 1
  if (before === 0) return startOfChain(organizationId)
  const signed = checkpoints.find(({ sequence }) => sequence === before)
  if (signed) return pointOf(signed)
  const [row] = await reads.rows(organizationId, { after: before - 1, last: before, limit: 1 })
  const { chainUid } = standing.head
  return { chainUid, sequence: before, fingerprint: row?.fingerprint ?? '' }
}

async function* pages(
  reads: AuditReads,
  organizationId: string,
  { after, last }: { after: number; last: number },
): AsyncGenerator<StoredEvent> {
  for (let at = after; ;) {
    const page = await reads.rows(organizationId, { after: at, last, limit: pageSize, withTexts: true })
    yield* page
    const end = page.at(-1)
    if (!end || page.length < pageSize) return
    at = end.sequence
  }
}

/** Texts may be gone, but what is there must be what was there. */
function hasOwnContent(row: SealedEvent & { readonly content?: string | null }, events: EventMaker): boolean {
  if (row.content === null || row.content === undefined) return true
  const digest = readSealed(row.body)?.unmapped.gatehouse['content_digest']
  return events.isContentOf(row.organizationId, row.content, digest)
}
