import type { ChainedDocument } from '../../src/domain/audit/event/document.ts'
import type { BatchGoal, ExportChoice, OpenedSink, DeliveryOutcome } from '../../src/domain/audit/export/sink.ts'

export type MemorySink = OpenedSink &
  AsyncDisposable & {
    /** Received batches. */
    readonly batches: ChainedDocument[][]
    /** How often it was opened. */
    closed: number
  }

export type MemorySinkOptions = {
  readonly goal?: Partial<BatchGoal>
  readonly choice?: ExportChoice
  /** The outcomes of a batch; by default all events are delivered. */
  readonly answer?: (
    batch: readonly ChainedDocument[],
    signal: AbortSignal,
  ) => readonly DeliveryOutcome[] | Promise<readonly DeliveryOutcome[]>
}

export const delivered: DeliveryOutcome = { kind: 'delivered' }

/** A destination in memory. */
export function memorySink({ goal, choice = {}, answer }: MemorySinkOptions = {}): MemorySink {
  const batches: ChainedDocument[][] = []
  const sink: MemorySink = {
    goal: { events: 100, bytes: 1_000_000, waitMs: 1_000, ...goal },
    choice,
    batches,
    closed: 0,
    async deliver(batch, signal) {
      batches.push([...batch])
      return answer ? answer(batch, signal) : batch.map(() => delivered)
    },
    async [Symbol.asyncDispose]() {
      sink.closed += 1
    },
  }
  return sink
}

export const sequencesOf = (batches: readonly (readonly ChainedDocument[])[]): number[] =>
  batches.flat().map(({ metadata }) => metadata.sequence)
