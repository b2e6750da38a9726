import { decisionCounts } from '../adapters/stores/sql/gateway-config/decision-counts.ts'
import { quotaStore } from '../adapters/stores/sql/gateway-config/quotas.ts'
import { removeBacktests } from '../adapters/stores/sql/policies/backtests.ts'
import { sweepIdempotency } from '../adapters/stores/sql/idempotency.ts'
import { dayMs, repeat, hourMs, minuteMs } from '../base/clock.ts'
import { dayMinutes, minuteOf } from '../domain/evaluation/spikes/spike.ts'
import type { StoredResponses } from '../domain/inference/stored-responses.ts'
import type { Infrastructure } from './infrastructure.ts'

/** How long past its end a window of a quota is kept: by then it has ended on every node's clock. */
const quotaMarginMs = dayMs
const backtestsMs = 30 * dayMs

/** Takes out what has had its time. */
export async function startExpiry(
  { built, database, clock, warn }: Infrastructure,
  stored: StoredResponses,
): Promise<void> {
  const onError = warn('expired idempotency keys could not be removed')
  built.use(sweepIdempotency({ database, clock, everyMs: hourMs, onError }))

  const sweep = (everyMs: number, what: string, remove: (nowMs: number) => Promise<unknown>): void => {
    const work = () => remove(clock.nowMs()).catch(warn(`${what} could not be removed`))
    built.use(repeat(clock, work, everyMs))
  }
  const quotas = quotaStore(database)
  // The lock on the data folder says that the process which reserved them is dead.
  if (database.engine === 'sqlite') await quotas.releaseExpired(Number.MAX_SAFE_INTEGER)
  const decisions = decisionCounts(database)
  sweep(10 * minuteMs, 'expired responses', (nowMs) => stored.removeExpired(nowMs))
  sweep(minuteMs, 'expired reservations of quotas', (nowMs) => quotas.releaseExpired(nowMs))
  sweep(hourMs, 'ended quotas', (nowMs) => quotas.removeEnded(nowMs - quotaMarginMs))
  sweep(hourMs, 'old counts of decisions', (nowMs) => decisions.removeBefore(minuteOf(nowMs) - 2 * dayMinutes))
  sweep(hourMs, 'old backtests', (nowMs) => removeBacktests(database, nowMs - backtestsMs))
}
