import { dayMs, type Clock } from '../base/clock.ts'
import { dayMinutes, hourMinutes, minuteOf } from '../domain/evaluation/spikes/spike.ts'
import type { Scheduler } from './scheduler.ts'

/** The deletions of the stores. Each takes the time before which rows are removed. */
export type ExpiryStores = {
  removeExpiredIdempotencyKeys(nowMs: number): Promise<unknown>
  removeExpiredResponses(nowMs: number): Promise<unknown>
  releaseExpiredReservations(nowMs: number): Promise<unknown>
  removeEndedQuotas(beforeMs: number): Promise<unknown>
  removeDenialSpikes(beforeMinute: number): Promise<unknown>
  removeDecisionCallers(beforeMinute: number): Promise<unknown>
  removeBacktests(beforeMs: number): Promise<unknown>
  removeGateRuns(beforeMs: number): Promise<unknown>
  /** Of the texts that are kept for replays. */
  removeSamples(nowMs: number): Promise<unknown>
  removeJudgeCounts(before: { readonly day: number; readonly beforeMs: number }): Promise<unknown>
}

/** A quota window is kept for a day after its end, because by then it has ended by the clock of every node. */
const quotaMarginMs = dayMs
const backtestsMs = 30 * dayMs
const judgeDays = 400

/** Starts the jobs that remove stored data at the end of its retention period. */
export function startExpiry(scheduler: Scheduler, clock: Clock, stores: ExpiryStores): Disposable {
  const nowMs = (): number => clock.nowMs()
  const started = new DisposableStack()
  const start: Scheduler['start'] = (name, run) => started.use(scheduler.start(name, run))
  start('remove-expired-idempotency-keys', () => stores.removeExpiredIdempotencyKeys(nowMs()))
  start('remove-expired-responses', () => stores.removeExpiredResponses(nowMs()))
  start('release-expired-quota-reservations', () => stores.releaseExpiredReservations(nowMs()))
  start('remove-ended-quotas', () => stores.removeEndedQuotas(nowMs() - quotaMarginMs))
  start('remove-old-denial-spikes', () => stores.removeDenialSpikes(minuteOf(nowMs()) - 2 * dayMinutes))
  start('remove-old-decision-callers', () => stores.removeDecisionCallers(minuteOf(nowMs()) - hourMinutes))
  start('remove-old-backtests', () => stores.removeBacktests(nowMs() - backtestsMs))
  start('remove-old-replay-samples', () => stores.removeSamples(nowMs()))
  start('remove-old-runs', async () => {
    const beforeMs = nowMs() - backtestsMs
    await stores.removeGateRuns(beforeMs)
    await stores.removeJudgeCounts({ day: Math.floor(nowMs() / dayMs) - judgeDays, beforeMs })
  })
  return started
}
