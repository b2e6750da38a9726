import { minuteMs, type Clock } from '../base/clock.ts'
import type { ChargeBacklog } from '../domain/credits/backlog.ts'
import type { Reconciler } from '../domain/credits/reconciler.ts'

export type LedgerMaintenanceParts = {
  readonly reconciler: Reconciler
  /** Charges on the disk of this node; null with embedded storage. */
  readonly backlog: Pick<ChargeBacklog, 'isEmpty' | 'flush'> | null
  readonly clock: Clock
  /** The organizations that this node has served. */
  readonly organizations: () => Iterable<string>
}

export type LedgerMaintenance = {
  reconcileSlices(): Promise<void>
  reconcileRequests(): Promise<void>
  /** At shutdown: writes the charges that wait, then returns the slices of this node. */
  release(): Promise<void>
}

/** Time without a failure after which orphaned requests are ended. */
const settledAfterMs = minuteMs

/**
 * Keeps the ledger in step with the counters. Requests are ended as orphans only after the database has answered for a
 * minute, because a node that could not write its charges has to write them first.
 */
export function createLedgerMaintenance(parts: LedgerMaintenanceParts): LedgerMaintenance {
  const { reconciler, backlog, clock, organizations } = parts
  let failedAtMs = clock.monotonicMs()

  const trackFailure = async (work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      failedAtMs = clock.monotonicMs()
      throw error
    }
  }
  const isSettled = (): boolean => clock.monotonicMs() - failedAtMs >= settledAfterMs && backlog?.isEmpty() !== false
  return {
    reconcileSlices: () => trackFailure(reconciler.reconcileSlices()),
    async reconcileRequests() {
      if (isSettled()) await trackFailure(reconciler.reconcileRequests(organizations()))
    },
    async release() {
      await backlog?.flush()
      await reconciler.release()
    },
  }
}
