import type { ChainPoint } from './chain.ts'
import type { ChainedDocument } from '../event/document.ts'
import { isUnaltered, readChained, toRow, type ChainedEvent } from './chained-event.ts'

/** The first fault in a chain. */
export type ChainFinding = {
  /** The first bad row. */
  readonly sequence: number
  readonly reason:
    | 'altered' // the row does not match its fingerprint
    | 'texts_altered' // the stored texts are not the ones that the event was written with
    | 'missing' // there is no row with this sequence
    | 'misplaced' // the row is at the position of another
    | 'unlinked' // valid, but not linked to the row before: one of the two was replaced
    | 'rewritten' // valid and linked, but a checkpoint was signed for another event at this sequence
    | 'cut' // the chain ends before an event that a checkpoint was signed for
}

export type ChainReport = {
  readonly checked: number
  /** The last valid point. */
  readonly end: ChainPoint
  readonly finding?: ChainFinding
}

export type ChainCheck<Row extends ChainedEvent = ChainedEvent> = {
  /** The point before the first row: the start of the chain, or the checkpoint at which retention cut it. */
  readonly from: ChainPoint
  /** Points of signed checkpoints. Only these reveal a truncated chain, or one that was rebuilt. */
  readonly checkpoints?: readonly ChainPoint[]
  /** A further check of each row: that its stored texts match. */
  readonly extraCheck?: (row: Row) => boolean
}

/** Reads rows in order and reports the first bad one. */
export async function verifyChain<Row extends ChainedEvent>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  { from, checkpoints = [], extraCheck = () => true }: ChainCheck<Row>,
): Promise<ChainReport> {
  const signed = new Map(checkpoints.map((point) => [point.sequence, point.fingerprint]))
  let end = from
  let absent: number | undefined
  const report = (finding?: ChainFinding): ChainReport => ({
    checked: end.sequence - from.sequence,
    end,
    ...(finding && { finding }),
  })
  if (contradicts(end, signed)) return report({ sequence: end.sequence, reason: 'rewritten' })
  for await (const row of rows) {
    // A row that was not at its position may come later: then it was moved, not removed.
    if (row.sequence === absent) return report({ sequence: absent, reason: 'misplaced' })
    if (absent !== undefined) continue
    const finding = problemOf(row, end)
    if (finding?.reason === 'missing') absent = finding.sequence
    else if (finding) return report(finding)
    else if (!extraCheck(row)) return report({ sequence: row.sequence, reason: 'texts_altered' })
    else end = { chainUid: row.chainUid, sequence: row.sequence, fingerprint: row.fingerprint }
    if (contradicts(end, signed)) return report({ sequence: end.sequence, reason: 'rewritten' })
  }
  if (absent !== undefined) return report({ sequence: absent, reason: 'missing' })
  const isCut = checkpoints.some(({ sequence }) => sequence > end.sequence)
  return report(isCut ? { sequence: end.sequence + 1, reason: 'cut' } : undefined)
}

/** The fault of this row as the successor of the point before. */
function problemOf(row: ChainedEvent, before: ChainPoint): ChainFinding | undefined {
  const sequence = before.sequence + 1
  if (row.sequence > sequence) return { sequence, reason: 'missing' }
  if (row.sequence < sequence) return { sequence, reason: 'misplaced' }
  const document = readChained(row.body)
  if (!document) return { sequence, reason: 'altered' }
  const [attestation] = document.attestation_list
  if (!isUnaltered(document)) return { sequence, reason: 'altered' }
  if (document.metadata.sequence !== sequence) return { sequence, reason: 'misplaced' }
  // A column differs from the body, or the body is not canonical JSON.
  if (!isCopyOf(row, document)) return { sequence, reason: 'altered' }
  const previous = attestation.prev_event?.fingerprint.value ?? ''
  const isLinked = row.chainUid === before.chainUid && previous === before.fingerprint
  return isLinked ? undefined : { sequence, reason: 'unlinked' }
}

/** Columns that were added later. They are null in older rows. */
const laterColumns: ReadonlySet<string> = new Set([
  'actorId',
  'resourceId',
  'model',
  'upstream',
  'status',
  'reasonCode',
  'errorCode',
  'categories',
  'latencyMs',
  'firstByteMs',
  'inputTokens',
  'outputTokens',
  'costMicroUsd',
])

/** Compares only the columns of the chain; the row may have others. */
const isCopyOf = (row: ChainedEvent, document: ChainedDocument): boolean =>
  Object.entries(toRow(document)).every(([name, value]) => {
    const stored: unknown = Reflect.get(row, name)
    return stored === value || (stored === null && laterColumns.has(name))
  })

const contradicts = ({ sequence, fingerprint }: ChainPoint, signed: ReadonlyMap<number, string>): boolean =>
  (signed.get(sequence) ?? fingerprint) !== fingerprint
