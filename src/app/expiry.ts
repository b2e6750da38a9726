import { decisionCounts } from '../adapters/stores/sql/gateway/decision-counts.ts'
import { quotaStore } from '../adapters/stores/sql/gateway/quotas.ts'
import { removeBacktests } from '../adapters/stores/sql/policies/backtests.ts'
import { sweepIdempotency } from '../adapters/stores/sql/idempotency.ts'
import { everySoOften } from '../base/clock.ts'
import { dayMinutes, minuteOf } from '../domain/governance/watch/spike.ts'
import type { StoredResponses } from '../domain/inference/stored-responses.ts'
import type { Ground } from './ground.ts'

const sweepEveryMs = 60 * 60 * 1000
/** How long past its end a window of a quota is kept: by then it has ended on every node's clock. */
const quotaMarginMs = 24 * 60 * 60 * 1000
const backtestsMs = 30 * 24 * 60 * 60 * 1000

/** Takes out what has had its time. */
export function startExpiry({ built, database, clock, warn }: Ground, stored: StoredResponses): void {
  const onError = warn('expired idempotency keys could not be removed')
  built.use(sweepIdempotency({ database, clock, everyMs: sweepEveryMs, onError }))
  const removeExpired = () => stored.removeExpired(clock.nowMs()).catch(warn('expired responses could not be removed'))
  built.use(everySoOften(clock, removeExpired))
  const quotas = quotaStore(database)
  const removeEnded = () =>
    quotas.removeEnded(clock.nowMs() - quotaMarginMs).catch(warn('ended quotas could not be removed'))
  built.use(everySoOften(clock, removeEnded, sweepEveryMs))
  const decisions = decisionCounts(database)
  const removeOld = () =>
    decisions
      .removeBefore(minuteOf(clock.nowMs()) - 2 * dayMinutes)
      .catch(warn('old counts of decisions could not be removed'))
  built.use(everySoOften(clock, removeOld, sweepEveryMs))
  const removeEndedBacktests = () =>
    removeBacktests(database, clock.nowMs() - backtestsMs).catch(warn('old backtests could not be removed'))
  built.use(everySoOften(clock, removeEndedBacktests, sweepEveryMs))
}
