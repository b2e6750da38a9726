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
import { isContentOf, type TextsKeys } from './event/event-maker.ts'
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

export type VerifyParts = {
  readonly keys: TrustedKeys
  /** Keys for the digests of texts, of this server secret and of earlier ones. */
  readonly textsKeys: TextsKeys
  readonly nowMs: number
  readonly range?: VerifyRange
  /** Late signatures of events up to this sequence are accepted. */
  readonly acceptLate?: number | undefined
  /** Where an earlier call was interrupted. Changes of the events before it since then are not seen. */
  readonly resumeAt?: VerifyCursor | undefined
  /** Awaited every few events. */
  readonly onChecked?: OnChecked | undefined
}

/** The last event that was found valid, and what was found up to there. */
export type VerifyCursor = ChainPoint & {
  /** The first event that was verified. */
  readonly first: number
  readonly uncheckedTexts: number
}

export type VerifyProgress = {
  /** Sequences of the first and the last event that were read. */
  readonly first: number
  readonly last: number
  /** Undefined until an event was found valid. */
  readonly cursor: VerifyCursor | undefined
}

type OnChecked = (progress: VerifyProgress) => Promise<void>

/** Small, so that a statement is short and progress is reported often. A multiple of the 128 events that are stored together. */
const pageSize = 256

/** Verifies an organization's log in the database: every row, its texts, and every checkpoint. */
export async function verifyLog(reads: AuditReads, organizationId: string, parts: VerifyParts): Promise<LogReport> {
  const { keys, nowMs, range = {}, acceptLate } = parts
  const chainState = await reads.chainState(organizationId)
  const published = await reads.keys()
  if (!chainState) {
    const nothing = await checkSignatures([], { keys, published, acceptLate })
    return { checked: 0, first: 1, end: startOfChain(organizationId), ...nothing }
  }
  const resumeAt = resumable(parts.resumeAt, chainState)
  const start = resumeAt ?? (await startOf(reads, organizationId, { chainState, from: range.from }))
  const before = resumeAt ? resumeAt.first - 1 : start.sequence
  const last = range.to ?? Number.MAX_SAFE_INTEGER
  const within = chainState.checkpoints.filter(({ sequence }) => sequence >= before && sequence <= last)
  const { report, uncheckedTexts } = await verifyRows(reads, organizationId, {
    ...parts,
    start,
    first: before + 1,
    uncheckedTexts: resumeAt?.uncheckedTexts ?? 0,
    last,
    // The stored head reveals a truncated chain, unless somebody changed the head as well.
    checkpoints: [...(range.to === undefined ? [chainState.head] : []), ...within.map(pointOf)],
  })
  const signatures = await checkSignatures(within, { keys, published, series: chainState.checkpoints, acceptLate })
  const signedTo = Math.max(before, signatures.signed?.to ?? 0)
  const tail = { from: signedTo + 1, to: report.end.sequence }
  const isOpenEnded = range.to === undefined && report.finding === undefined && tail.to >= tail.from
  const unsigned = isOpenEnded
    ? { ...tail, isOverdue: await isOverdue(reads, organizationId, { from: tail.from, nowMs }) }
    : undefined
  // The checkpoint right before the range signs for none of its events.
  const late = signatures.late.filter(({ to }) => to > before)
  const checked = report.end.sequence - before
  return { ...report, checked, first: before + 1, uncheckedTexts, ...signatures, late, ...(unsigned && { unsigned }) }
}

/** Undefined if the events after the cursor are no longer kept. */
const resumable = (cursor: VerifyCursor | undefined, { firstSequence }: ChainState): VerifyCursor | undefined =>
  cursor && cursor.sequence >= firstSequence - 1 ? cursor : undefined

type Rows = Pick<VerifyParts, 'textsKeys' | 'onChecked'> & {
  /** The point before the first row to read. */
  readonly start: ChainPoint
  readonly first: number
  readonly uncheckedTexts: number
  readonly last: number
  readonly checkpoints: readonly ChainPoint[]
}

async function verifyRows(reads: AuditReads, organizationId: string, rows: Rows) {
  const { start, first, last, checkpoints, textsKeys } = rows
  let { uncheckedTexts } = rows
  let cursor: VerifyCursor | undefined
  const onPage = async (sequence: number): Promise<void> => rows.onChecked?.({ first, last: sequence, cursor })
  const report = await verifyChain(pages(reads, organizationId, { after: start.sequence, last, onPage }), {
    from: start,
    checkpoints,
    extraCheck(row) {
      const isOwn = hasOwnContent(row, textsKeys)
      if (isOwn === undefined) uncheckedTexts += 1
      // The next row is read only if this one also matches the checkpoints.
      cursor = { chainUid: row.chainUid, sequence: row.sequence, fingerprint: row.fingerprint, first, uncheckedTexts }
      return isOwn !== false
    },
  })
  return { report, uncheckedTexts }
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

type PageRange = {
  readonly after: number
  readonly last: number
  readonly onPage: (sequence: number) => Promise<void>
}

async function* pages(reads: AuditReads, organizationId: string, range: PageRange): AsyncGenerator<StoredEvent> {
  const { after, last, onPage } = range
  for (let at = after; ;) {
    const page = await reads.rows(organizationId, { after: at, last, limit: pageSize, withTexts: true })
    yield* page
    const end = page.at(-1)
    if (!end) return
    await onPage(end.sequence)
    if (page.length < pageSize) return
    at = end.sequence
  }
}

/** Texts may be erased, but texts that are stored must match their digest. Undefined if the digest cannot be verified. */
function hasOwnContent({ body, content }: StoredEvent, keys: TextsKeys): boolean | undefined {
  const document = content === null ? undefined : readChained(body)
  return document && content !== null ? isContentOf(document, content, keys) : true
}
