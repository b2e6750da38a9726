import { startOfChain, type ChainPoint } from './chain/chain.ts'
import { pointOf, type SignedCheckpoint } from './chain/checkpoint.ts'
import { readChained, type ChainedEvent } from './chain/chained-event.ts'
import type { TrustedKeys } from './chain/trusted-keys.ts'
import { checkSignatures, type LogReport } from './verify-log.ts'
import { verifyChain } from './chain/verify.ts'

/** One exported event or checkpoint, and where it was read. */
export type ExportedEntry = {
  /** File and line. */
  readonly where: string
  /** Undefined for a checkpoint that is a file of its own, as S3 sinks write it under `_digest/`. */
  readonly row?: ChainedEvent
  readonly checkpoint?: SignedCheckpoint | undefined
  /** In a proof: a checkpoint, anywhere in the log, in which one key hands over to another. */
  readonly handover?: SignedCheckpoint
  /** False if the copy was changed after the export. A copy that the sink truncated cannot be checked and counts as unaltered. */
  readonly isUnaltered: boolean
}

/** Reads an export from its start. */
export type ReadExport = () => AsyncIterable<ExportedEntry>

/** Checkpoints of an organization, from the log itself, in which one key hands over to another. */
export type HandoversOf = (organizationId: string) => Promise<readonly SignedCheckpoint[]>

type ExportChecks = {
  readonly handoversOf?: HandoversOf
  /** Late signatures of events up to this sequence are accepted. */
  readonly acceptLate?: number | undefined
}

/** Verifies exported events as a log of their own. It needs nothing from the server except the public keys. */
export async function verifyExport(
  read: ReadExport,
  keys: TrustedKeys,
  { handoversOf = async () => [], acceptLate }: ExportChecks = {},
): Promise<LogReport> {
  const carried: SignedCheckpoint[] = []
  const included: SignedCheckpoint[] = []
  const first = await firstRow(read)
  const from = first ? startBefore(first) : startOfChain('')
  const report = await verifyChain(
    rowsOf(read, ({ checkpoint, handover }) => {
      if (checkpoint) carried.push(checkpoint)
      if (handover) included.push(handover)
    }),
    { from },
  )
  const checkpoints = inOrder(carried)
  // A checkpoint can be compared only if the file has the event that it covers.
  const points = checkpoints.filter(({ sequence }) => sequence > from.sequence).map(pointOf)
  const again = report.finding ? report : await verifyChain(rowsOf(read), { from, checkpoints: points })
  const handovers = first ? await handoversOf(first.organizationId) : []
  const signatures = await checkSignatures(checkpoints, {
    keys,
    series: inOrder([...checkpoints, ...included, ...handovers]),
    acceptLate,
  })
  const tail = { from: Math.max(from.sequence, signatures.signed?.to ?? 0) + 1, to: again.end.sequence }
  // A file may end anywhere, so a missing signature at its end is not overdue.
  const hasTail = again.finding === undefined && tail.to >= tail.from
  return {
    ...again,
    first: from.sequence + 1,
    ...signatures,
    ...(hasTail && { unsigned: { ...tail, isOverdue: false } }),
  }
}

/** Sorted, without duplicates: an S3 sink writes a checkpoint twice, among the events and as a file of its own. */
export function inOrder(checkpoints: readonly SignedCheckpoint[]): SignedCheckpoint[] {
  const unique = new Map(checkpoints.map((checkpoint) => [JSON.stringify(checkpoint), checkpoint]))
  return [...unique.values()].sort((one, other) => one.sequence - other.sequence)
}

async function firstRow(read: ReadExport): Promise<ChainedEvent | undefined> {
  for await (const row of rowsOf(read)) return row
  return undefined
}

/** A file may begin anywhere in the log, so the start is taken from the fingerprint of the previous event in its first event. */
function startBefore({ chainUid, sequence, body }: ChainedEvent): ChainPoint {
  const previous = readChained(body)?.attestation_list[0].prev_event
  return { chainUid, sequence: sequence - 1, fingerprint: previous?.fingerprint.value ?? '' }
}

async function* rowsOf(read: ReadExport, onEntry?: (entry: ExportedEntry) => void): AsyncGenerator<ChainedEvent> {
  for await (const entry of read()) {
    onEntry?.(entry)
    if (entry.row) yield entry.row
  }
}
