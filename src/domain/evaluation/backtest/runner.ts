import type { Clock } from '../../../base/clock.ts'
import { isFault } from '../../../base/fault.ts'
import { thresholdOf } from '../../policy/content.ts'
import { notStarted, type AnyBacktest, type Backtest, type BacktestQueue, type GatewayBacktest } from './backtest.ts'
import type { Replay } from './replay.ts'
import { addReplayedEvent } from './counts.ts'
import { addGatewayEvent } from './gateway-counts.ts'
import type { StoredRequest } from './replay-texts.ts'
import type { GatewayReplay } from './gateway-replay.ts'

export type BacktestRunnerParts = {
  readonly queue: BacktestQueue
  readonly replay: Replay
  readonly gatewayReplay: GatewayReplay
  readonly clock: Clock
  /** Yields to the event loop between two events. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/** Runs backtests in the background, one at a time, in batches small enough to be repeated after a crash. */
export type BacktestRunner = AsyncDisposable & {
  /** Runs backtests until the queue is empty. A job calls it every second. */
  run(): Promise<void>
}

const batchSize = 50
/** Progress is saved at least this often; must be shorter than the lease. */
const saveEveryMs = 2_000

const tooLong = 'Its events could not be read within `storage.report_timeout_ms`. Choose a shorter period.'
const unexpected = 'The backtest stopped after an unexpected error; see the service log.'

/** Replays an event and adds its result to the counts. */
type AddEvent<B extends AnyBacktest> = (counts: B['counts'], event: StoredRequest) => Promise<B['counts']>

export function createBacktestRunner(parts: BacktestRunnerParts): BacktestRunner {
  const { queue, replay, gatewayReplay, clock, pause, onError } = parts
  let isStopping = false
  let runs = Promise.resolve()
  return {
    run() {
      const round = runs.then(runAll)
      runs = round.catch(() => undefined) // the caller gets the error; the next round starts nevertheless
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

  async function claim(): Promise<AnyBacktest | undefined> {
    return isStopping ? undefined : queue.claim()
  }

  /** If the database cannot be reached, the backtest continues later. Any other error would repeat, so it fails the backtest. */
  async function workOff(claimed: AnyBacktest): Promise<void> {
    let latest: AnyBacktest = claimed
    try {
      while (latest.status === 'running' && !isStopping) {
        const next = await (latest.cursor === notStarted ? findEvents(latest) : step(latest))
        if (next === undefined) return
        latest = next
      }
    } catch (error) {
      const isTooLong = isFault(error) && error.code === 'report_timeout'
      if (isFault(error) && error.kind === 'unavailable' && !isTooLong) throw error
      if (!isTooLong) onError(error)
      await save(latest, { ...latest, status: 'failed', error: isTooLong ? tooLong : unexpected })
    }
  }

  async function findEvents(before: AnyBacktest): Promise<AnyBacktest | undefined> {
    const { first, last, count } = await queue.span(before)
    const total = Math.min(count, before.parameters.limit)
    return save(before, { ...before, cursor: last + 1, firstSequence: first, total })
  }

  /** Replays the next batch of events and saves the counts. Returns undefined if another node has taken over. */
  async function step(before: AnyBacktest): Promise<AnyBacktest | undefined> {
    return before.policyId === null
      ? replayBatch(before, await gatewayEvents(before))
      : replayBatch(before, await policyEvents(before))
  }

  async function policyEvents(backtest: Backtest): Promise<AddEvent<Backtest>> {
    const replayEvent = await replay(backtest)
    const threshold = thresholdOf(backtest.parameters.draft)
    return async (counts, event) => addReplayedEvent(counts, { ...(await replayEvent(event)), threshold })
  }

  async function gatewayEvents(backtest: GatewayBacktest): Promise<AddEvent<GatewayBacktest>> {
    const replayEvent = await gatewayReplay(backtest)
    return async (counts, event) => addGatewayEvent(counts, await replayEvent(event))
  }

  async function replayBatch<B extends AnyBacktest>(before: B, addEvent: AddEvent<B>): Promise<B | undefined> {
    const startedMs = clock.monotonicMs()
    const events = await queue.events(before, Math.min(batchSize, before.parameters.limit - before.done))
    let after = before
    for (const event of events) {
      const counts = await addEvent(after.counts, event)
      after = { ...after, counts, cursor: event.sequence, done: after.done + 1 }
      if (isStopping || clock.monotonicMs() - startedMs > saveEveryMs) break
      await pause()
    }
    return save(before, events.length === 0 ? { ...after, status: 'completed', total: after.done } : after)
  }

  async function save<B extends AnyBacktest>(before: B, after: B): Promise<B | undefined> {
    const saved = { ...after, updatedAtMs: clock.nowMs() }
    return (await queue.save(saved, before.cursor)) ? saved : undefined
  }
}
