import { endOfSecondMs } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import { notStarted, type BacktestStore, type EventChoice } from './backtest.ts'

/** The choice of events as a caller sends it; all fields have defaults. */
export type GivenChoice = Partial<EventChoice>

const weekMs = 7 * 24 * 60 * 60 * 1000
const defaultLimit = 1_000
/** Backtests run one after the other, so more would only wait. */
const maxRunning = 50

/** The events and the progress of a backtest that starts now. */
export function newProgress(given: GivenChoice, nowMs: number) {
  const { toMs = endOfSecondMs(nowMs), limit = defaultLimit, samplePercent = 100 } = given
  const { fromMs = toMs - weekMs } = given
  if (fromMs >= toMs) throw new Fault('validation', 'invalid_parameter', 'from: must be before to.', { param: 'from' })
  const choice: EventChoice = { fromMs, toMs, limit, samplePercent }
  const progress = {
    status: 'running',
    cursor: notStarted,
    firstSequence: 0,
    done: 0,
    total: limit,
    error: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  } as const
  return { choice, progress }
}

export async function requireFreeSlot(
  store: Pick<BacktestStore, 'countRunning'>,
  organizationId: string,
): Promise<void> {
  if ((await store.countRunning(organizationId)) < maxRunning) return
  throw new Fault('conflict', 'invalid_state', `${maxRunning} backtests are running already; wait for one to end.`)
}
