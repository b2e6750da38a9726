import type { ChainPoint } from './chain.ts'
import type { ChainedDocument } from '../event/document.ts'
import { isUnaltered, readChained, toRow, type ChainedEvent } from './chained-event.ts'

/** The first thing that is wrong with a chain. */
export type ChainFinding = {
  /** The first bad row. */
  readonly sequence: number
  readonly reason:
    | 'altered' // the row does not have the fingerprint that it carries
    | 'texts_altered' // the texts beside the row are not the ones that it was written with
    | 'missing' // no row of this sequence is there
    | 'misplaced' // the row stands where another belongs
    | 'unlinked' // sound in itself, but it does not follow from the row before: one of the two was replaced
    | 'rewritten' // sound and linked, but a checkpoint signed for another event at this place
    | 'cut' // the chain ends here, and a checkpoint signed for more
}

export type ChainReport = {
  readonly checked: number
  /** The last place up to which all is well. */
  readonly end: ChainPoint
  readonly finding?: ChainFinding
}

export type ChainCheck<Row extends ChainedEvent = ChainedEvent> = {
  /** Where the rows begin: the start of the chain, or the checkpoint that covers what retention removed. */
  readonly from: ChainPoint
  /** Places that signed checkpoints vouch for. Only these show a cut tail or a chain that was sealed anew. */
  readonly checkpoints?: readonly ChainPoint[]
  /** What else must hold for a row: that the texts beside it are its own. */
  readonly extraCheck?: (row: Row) => boolean
}

/** Reads rows in order and names the first bad one. */
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
    // A row that was not in its place may still come: then it was moved, not removed.
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

/** What is wrong with this row as the successor of that place. */
function problemOf(row: ChainedEvent, before: ChainPoint): ChainFinding | undefined {
  const sequence = before.sequence + 1
  if (row.sequence > sequence) return { sequence, reason: 'missing' }
  if (row.sequence < sequence) return { sequence, reason: 'misplaced' }
  const document = readChained(row.body)
  if (!document) return { sequence, reason: 'altered' }
  const [attestation] = document.attestation_list
  if (!isUnaltered(document)) return { sequence, reason: 'altered' }
  if (document.metadata.sequence !== sequence) return { sequence, reason: 'misplaced' }
  // Columns that say other than the body, or a body that is not spelled canonically.
  if (!isCopyOf(row, document)) return { sequence, reason: 'altered' }
  const previous = attestation.prev_event?.fingerprint.value ?? ''
  const isLinked = row.chainUid === before.chainUid && previous === before.fingerprint
  return isLinked ? undefined : { sequence, reason: 'unlinked' }
}

/** Whatever else the row may carry is not the chain's. */
const isCopyOf = (row: ChainedEvent, document: ChainedDocument): boolean =>
  Object.entries(toRow(document)).every(([name, value]) => Reflect.get(row, name) === value)

const contradicts = ({ sequence, fingerprint }: ChainPoint, signed: ReadonlyMap<number, string>): boolean =>
  (signed.get(sequence) ?? fingerprint) !== fingerprint
