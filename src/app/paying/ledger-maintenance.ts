import { repeat, type Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ChargeBacklog } from '../../domain/credits/backlog.ts'
import type { Reconciler } from '../../domain/credits/reconciler.ts'

export type LedgerMaintenanceParts = {
  readonly keeper: Reconciler
  readonly backlog: ChargeBacklog | null
  readonly clock: Clock
  readonly log: Log
  /** Those that this node has served. */
  readonly organizations: () => Iterable<string>
}

const slicesEveryMs = 10_000
const requestsEveryMs = 60_000

/**
 * The ledger's housekeeping, in the background. No request is given up until the database has answered for a whole
 * round: a node that could not write its charges comes first.
 */
export function createLedgerMaintenance({
  keeper,
  backlog,
  clock,
  log,
  organizations,
}: LedgerMaintenanceParts): AsyncDisposable {
  let failedAtMs = clock.monotonicMs()

  const round = (name: string, work: () => Promise<void>) => async (): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failedAtMs = clock.monotonicMs()
      log.warn({ error: String(error) }, `${name} could not be tidied`)
    }
  }
  const isSettled = (): boolean => clock.monotonicMs() - failedAtMs >= requestsEveryMs && backlog?.isEmpty() !== false
  const tidyRequests = async (): Promise<void> => {
    if (isSettled()) await keeper.tidyRequests(organizations())
  }

  const running = new DisposableStack()
  running.use(
    repeat(
      clock,
      round('slices', () => keeper.tidySlices()),
      slicesEveryMs,
    ),
  )
  running.use(repeat(clock, round('requests', tidyRequests), requestsEveryMs))
  return {
    async [Symbol.asyncDispose]() {
      running.dispose()
      await backlog?.flush()
      await round('slices', () => keeper.release())()
    },
  }
}
