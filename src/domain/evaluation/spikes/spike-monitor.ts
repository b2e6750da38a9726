import type { Clock } from '../../../base/clock.ts'
import type { Decision } from '../verdict/combine.ts'
import type { DecisionCounts, MonitoredSubject } from './decision-counts.ts'
import { hasManyDenials, minuteOf, windowMinutes } from './spike.ts'
import type { AutoDisable } from './auto-disable.ts'
import { createDecisionCounter } from './decision-counter.ts'

/** Counts the decisions of enforced rules, and disables a policy or configuration whose denials suddenly spike. */
export type SpikeMonitor = AsyncDisposable & {
  /** Counts the decisions on one request, one per rule. Call once per request. */
  count(request: { readonly organizationId: string; readonly decisions: readonly Decision[] }): void
  /** Writes the counts and evaluates the sums over all nodes. A job calls it every two seconds. */
  run(): Promise<void>
}

export type SpikeMonitorParts = {
  readonly counts: Pick<DecisionCounts, 'add'>
  readonly autoDisable: AutoDisable
  readonly clock: Clock
  readonly onAutoDisabled: (monitored: MonitoredSubject) => void
  readonly onError: (error: unknown) => void
}

/** Minimum time between two early runs. */
const earlyRunEveryMs = 500

/**
 * Every node writes its counts every two seconds and then evaluates the sums over all nodes. If its own counts alone already
 * show many denials, it does so at once.
 */
export function createSpikeMonitor({
  counts,
  autoDisable,
  clock,
  onAutoDisabled,
  onError,
}: SpikeMonitorParts): SpikeMonitor {
  const counter = createDecisionCounter()
  const suspects = new Map<string, MonitoredSubject>()
  let runs = Promise.resolve()
  let lastEarlyRunMs = Number.NEGATIVE_INFINITY

  const run = (): Promise<void> => {
    const current = runs.then(runOnce)
    runs = current.catch(() => undefined) // the caller gets the error; the next run starts all the same
    return current
  }
  const runEarly = (): void => {
    if (clock.monotonicMs() - lastEarlyRunMs < earlyRunEveryMs) return
    lastEarlyRunMs = clock.monotonicMs()
    run().catch(onError)
  }

  return {
    count({ organizationId, decisions }) {
      const minute = minuteOf(clock.nowMs())
      for (const denied of counter.count(organizationId, minute, decisions)) {
        suspects.set(`${organizationId} ${denied.subject} ${denied.version}`, denied)
        if (hasManyDenials(counter.recent(denied, minute))) runEarly()
      }
    },
    run,
    async [Symbol.asyncDispose]() {
      await runs
      await write().catch(onError)
    },
  }

  async function runOnce(): Promise<void> {
    const due = [...suspects]
    suspects.clear()
    counter.evictBefore(minuteOf(clock.nowMs()) - windowMinutes)
    const evaluateAgain = ([key, monitored]: (typeof due)[number]): void => void suspects.set(key, monitored)
    await write().catch((error: unknown) => {
      due.forEach(evaluateAgain)
      throw error
    })
    const failures: unknown[] = []
    for (const suspect of due) {
      try {
        if (await autoDisable(suspect[1])) onAutoDisabled(suspect[1])
      } catch (error) {
        evaluateAgain(suspect)
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  async function write(): Promise<void> {
    const unwritten = counter.takeUnwritten()
    if (unwritten.length === 0) return
    try {
      await counts.add(unwritten)
    } catch (error) {
      counter.putBack(unwritten)
      throw error
    }
  }
}
