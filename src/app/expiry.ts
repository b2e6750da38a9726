import { decisionCounts } from '../adapters/stores/sql/gateway-config/decision-counts.ts'
import { quotaStore } from '../adapters/stores/sql/gateway-config/quotas.ts'
import { removeExpiredReplies } from '../adapters/stores/sql/idempotency.ts'
import { removeBacktests } from '../adapters/stores/sql/policies/backtests.ts'
import type { StoredResponses } from '../domain/inference/stored-responses.ts'
import { startExpiry } from '../jobs/expiry.ts'
import type { Infrastructure } from './infrastructure.ts'

/** Removes stored data at the end of its retention period, until the app is closed. */
export async function openExpiry(
  { built, database, clock, jobs }: Infrastructure,
  responses: Pick<StoredResponses, 'removeExpired'>,
): Promise<void> {
  const quotas = quotaStore(database)
  const decisions = decisionCounts(database)
  // The lock on the data folder proves that the process which made these reservations is dead.
  if (database.engine === 'sqlite') await quotas.releaseExpired(Number.MAX_SAFE_INTEGER)
  built.use(
    startExpiry(jobs, clock, {
      removeExpiredIdempotencyKeys: (nowMs) => removeExpiredReplies(database, nowMs),
      removeExpiredResponses: (nowMs) => responses.removeExpired(nowMs),
      releaseExpiredReservations: (nowMs) => quotas.releaseExpired(nowMs),
      removeEndedQuotas: (beforeMs) => quotas.removeEnded(beforeMs),
      removeDecisionCounts: (beforeMinute) => decisions.removeBefore(beforeMinute),
      removeBacktests: (beforeMs) => removeBacktests(database, beforeMs),
    }),
  )
}
