import { startOfChain, type ChainPoint } from './chain/chain.ts'
import {
  lateAfterMs,
  pointOf,
  verifyCheckpoints,
  type CheckpointFinding,
  type SignedCheckpoint,
} from './chain/checkpoint.ts'
import { checkpointCode } from './chain/checkpoint-event.ts'
import { handedOver } from './chain/handover.ts'
import { readChained } from './chain/chained-event.ts'
import { foreignKeys, type KeyFinding, type KeySource, type TrustedKeys } from './chain/trusted-keys.ts'
import type { EventMaker, TextsKeys } from './event/event-maker.ts'
import type { AuditReads, ChainState, PublishedKey, StoredEvent } from './log.ts'
import { verifyChain, type ChainReport } from './chain/verify.ts'

/** Limits verification to these sequences; without it, the whole log is verified. */
export type VerifyRange = { readonly from?: number | undefined; readonly to?: number | undefined }

/** What was verified and what it proves. */
export type LogReport = ChainReport &
  SignatureReport & {
    readonly first: number
    /** Events whose texts were written under another server secret, so their digests cannot be verified. */
    readonly uncheckedTexts?: number
    /** Events at the end that are not covered by a signature yet. */
    readonly unsigned?: UnsignedTail
  }

export type SignatureReport = {
  readonly keySource: KeySource
  /** Number of checkpoints whose signature was verified. */
  readonly checkpoints: number
  /** The events up to the last valid checkpoint before the first invalid one. */
  readonly signed?: SignedRange
  readonly checkpointFinding?: CheckpointFinding
  /** Events that were signed late, oldest first. */
  readonly late: readonly LateSignature[]
  readonly keyFindings: readonly KeyFinding[]
}

export type SignedRange = {
  readonly to: number
  readonly timeMs: number
  readonly keyIds: readonly string[]
  /** Those of `keyIds` that are trusted by handover only: a trusted key handed over to them, or they to a trusted key. */
  readonly handoverKeyIds: readonly string[]
}

/** `isAccepted`: the person who verifies knows why, and it does not count as a fault. */
export type LateSignature = {
  readonly from: number
  readonly to: number
  readonly timeMs: number
  readonly isAccepted: boolean
}

export type UnsignedTail = { readonly from: number; readonly to: number; readonly isOverdue: boolean }

type TextsCheck = {
  readonly events: EventMaker
  /** Stored keys of earlier server secrets, for the digests of texts. */
  readonly textsKeys?: TextsKeys | undefined
}

export type VerifyParts = TextsCheck & {
  readonly keys: TrustedKeys
  readonly nowMs: number
  readonly range?: VerifyRange
  /** Late signatures of events up to this sequence are accepted. */
  readonly acceptLate?: number | undefined
  /** Awaited every few events with the sequence of the last one, so that other work can run in between. */
  readonly onChecked?: OnChecked | undefined
}

type OnChecked = (sequence: number) => Promise<void>

/** Small, so that other reads can run between two pages. */
const pageSize = 200
/** Checking so many events takes about a millisecond. */
const eventsPerStep = 20

/** Verifies an organization's log in the database: every row, its texts, and every checkpoint. */
export async function verifyLog(
  reads: AuditReads,
  organizationId: string,
  { events, keys, nowMs, textsKeys, range = {}, acceptLate, onChecked }: VerifyParts,
): Promise<LogReport> {
  const chainState = await reads.chainState(organizationId)
  const published = await reads.keys()
  if (!chainState) {
    const nothing = await checkSignatures([], { keys, published, acceptLate })
    return { checked: 0, first: 1, end: startOfChain(organizationId), ...nothing }
  }
  const from = await startOf(reads, organizationId, { chainState, from: range.from })
  const last = range.to ?? Number.MAX_SAFE_INTEGER
  const within = chainState.checkpoints.filter(({ sequence }) => sequence >= from.sequence && sequence <= last)
  // The stored head reveals a truncated chain, unless somebody changed the head as well.
  const ends = range.to === undefined ? [chainState.head] : []
  let uncheckedTexts = 0
  const report = await verifyChain(pages(reads, organizationId, { after: from.sequence, last, onChecked }), {
    from,
    checkpoints: [...ends, ...within.map(pointOf)],
    extraCheck(row) {
      const isOwn = hasOwnContent(row, { events, textsKeys })
      if (isOwn === undefined) uncheckedTexts += 1
      return isOwn !== false
    },
  })
  const signatures = await checkSignatures(within, { keys, published, series: chainState.checkpoints, acceptLate })
  const signedTo = Math.max(from.sequence, signatures.signed?.to ?? 0)
  const tail = { from: signedTo + 1, to: report.end.sequence }
  const isOpenEnded = range.to === undefined && report.finding === undefined && tail.to >= tail.from
  const unsigned = isOpenEnded
    ? { ...tail, isOverdue: await isOverdue(reads, organizationId, { from: tail.from, nowMs }) }
    : undefined
  // The checkpoint right before the range signs for none of its events.
  const late = signatures.late.filter(({ to }) => to > from.sequence)
  return { ...report, first: from.sequence + 1, uncheckedTexts, ...signatures, late, ...(unsigned && { unsigned }) }
}

type Against = {
  readonly keys: TrustedKeys
  /** Keys as the database lists them: compared with the trusted ones, never trusted. */
  readonly published?: readonly Pick<PublishedKey, 'id' | 'publicKey'>[]
  /** All checkpoints of the chain if only some are verified, because a handover may be outside of those. */
  readonly series?: readonly SignedCheckpoint[]
} & Pick<VerifyParts, 'acceptLate'>

/** Verifies the signatures of checkpoints with keys from outside the database. */
export async function checkSignatures(
  checkpoints: readonly SignedCheckpoint[],
  { keys: { source, keys }, published = [], series = checkpoints, acceptLate = 0 }: Against,
): Promise<SignatureReport> {
  const keyAt = handedOver(series, keys)
  const finding = await verifyCheckpoints(checkpoints, keyAt)
  const good = finding ? checkpoints.filter(({ sequence }) => sequence < finding.sequence) : checkpoints
  const last = good.at(-1)
  const keyIds = [...new Set(good.map(({ key_id: id }) => id))]
  const handoverKeyIds = keyIds.filter((id) => !keys.has(id))
  return {
    keySource: source,
    checkpoints: checkpoints.length,
    late: checkpoints.flatMap((checkpoint) => lateSignature(checkpoint, acceptLate)),
    keyFindings: foreignKeys(checkpoints, published, keyAt),
    ...(last && { signed: { to: last.sequence, timeMs: last.time, keyIds, handoverKeyIds } }),
    ...(finding && { checkpointFinding: finding }),
  }
}

const lateSignature = ({ late, sequence, count, time }: SignedCheckpoint, acceptLate: number): LateSignature[] =>
  late ? [{ from: sequence - count + 1, to: sequence, timeMs: time, isAccepted: sequence <= acceptLate }] : []

/** Whether verification found no fault, and no event is overdue for its signature or got it late. */
export const isWhole = (report: LogReport): boolean =>
  report.checked > 0 &&
  report.finding === undefined &&
  report.checkpointFinding === undefined &&
  report.unsigned?.isOverdue !== true &&
  report.late.every(({ isAccepted }) => isAccepted) &&
  report.keyFindings.every(({ reason, from }) => reason === 'untrusted' && from === undefined)

type Tail = { readonly from: number; readonly nowMs: number }

/** Whether unsigned events are older than a running service allows. */
async function isOverdue(reads: AuditReads, organizationId: string, { from, nowMs }: Tail): Promise<boolean> {
  const rows = await reads.rows(organizationId, { after: from - 1, limit: 2 })
  // The event that carries the last checkpoint always comes after it, and needs no checkpoint of its own.
  const [oldest] = rows.filter(({ code, sequence }) => sequence > from || from === 1 || code !== checkpointCode)
  return oldest !== undefined && nowMs - oldest.timeMs > lateAfterMs
}

type Start = { readonly chainState: ChainState; readonly from: number | undefined }

/** The point before the first row: the start of the chain, a checkpoint (as retention leaves it), or the row before. */
async function startOf(reads: AuditReads, organizationId: string, { chainState, from }: Start): Promise<ChainPoint> {
  const { firstSequence, checkpoints } = chainState
  const before = Math.max(from ?? firstSequence, firstSequence) - 1
  if (before === 0) return startOfChain(organizationId)
  const signed = checkpoints.find(({ sequence }) => sequence === before)
  if (signed) return pointOf(signed)
  const [row] = await reads.rows(organizationId, { after: before - 1, last: before, limit: 1 })
  const { chainUid } = chainState.head
  return { chainUid, sequence: before, fingerprint: row?.fingerprint ?? '' }
}

async function* pages(
  reads: AuditReads,
  organizationId: string,
  { after, last, onChecked }: { after: number; last: number; onChecked: OnChecked | undefined },
): AsyncGenerator<StoredEvent> {
  for (let at = after; ;) {
    const page = await reads.rows(organizationId, { after: at, last, limit: pageSize, withTexts: true })
    for (const [index, row] of page.entries()) {
      yield row
      if (index % eventsPerStep === 0) await onChecked?.(row.sequence)
    }
    const end = page.at(-1)
    if (!end || page.length < pageSize) return
    at = end.sequence
  }
}

/** Texts may be erased, but texts that are stored must match their digest. Undefined if the digest cannot be verified. */
function hasOwnContent({ body, content }: StoredEvent, { events, textsKeys }: TextsCheck): boolean | undefined {
  const document = content === null ? undefined : readChained(body)
  return document && content !== null ? events.isContentOf(document, content, textsKeys) : true
}
