import type { Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import { thresholdOf } from '../verdict/outcomes.ts'
import type { Backtest, BacktestQueue } from './backtest.ts'
import type { Replay } from './replay.ts'
import { addReplayedEvent } from './counts.ts'

export type BacktestRunnerParts = {
  readonly queue: BacktestQueue
  readonly replay: Replay
  readonly clock: Clock
  /** Lets requests run between two events. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Works off backtests in the background, one at a time, in steps small enough to be lost. */
export type BacktestRunner = AsyncDisposable & {
  /** Runs backtests until none waits. A job calls it every second. */
  run(): Promise<void>
}

const batchSize = 50
/** So long at most until what was found is written: no lease ends before. */
const saveEveryMs = 2_000

export function createBacktestRunner({ queue, replay, clock, pause, onError }: BacktestRunnerParts): BacktestRunner {
  let isStopping = false
  let runs = Promise.resolve()
  return {
    run() {
      const round = runs.then(runAll)
      runs = round.catch(() => undefined) // the caller gets the error; the next round starts all the same
      return round
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      await runs
    },
  }

  async function runAll(): Promise<void> {
    for (let claimed = await claim(); claimed; claimed = await claim()) {
      try {
        await workOff(claimed)
      } finally {
        await queue.release(claimed.id)
      }
    }
  }

  async function claim(): Promise<Backtest | undefined> {
    return isStopping ? undefined : queue.claim()
  }

  /** Where the database cannot be reached it stays as it is, and goes on later; anything else would happen again. */
  async function workOff(claimed: Backtest): Promise<void> {
    let latest = claimed
    try {
      while (latest.status === 'running' && !isStopping) {
        const next = await step(latest)
        if (next === undefined) return
        latest = next
      }
    } catch (error) {
      if (isFault(error) && error.kind === 'unavailable') throw error
      onError(error)
      await save(latest, { ...latest, status: 'failed', error: 'An unexpected failure; the service’s log tells more.' })
    }
  }

  /** Looks at the next events and writes what was found; undefined where another node has taken over. */
  async function step(before: Backtest): Promise<Backtest | undefined> {
    const look = replay(before)
    const threshold = thresholdOf(before.order.draft)
    const startedMs = clock.monotonicMs()
    const events = await queue.events(before, Math.min(batchSize, before.order.limit - before.done))
    let after = before
    for (const event of events) {
      const tally = addReplayedEvent(after.tally, { ...(await look(event)), threshold })
      after = { ...after, tally, cursor: event.sequence, done: after.done + 1 }
      if (isStopping || clock.monotonicMs() - startedMs > saveEveryMs) break
      await pause()
    }
    return save(before, events.length === 0 ? { ...after, status: 'completed', total: after.done } : after)
  }

  async function save(before: Backtest, after: Backtest): Promise<Backtest | undefined> {
    const saved = { ...after, updatedAtMs: clock.nowMs() }
    return (await queue.save(saved, before.cursor)) ? saved : undefined
  }
}
