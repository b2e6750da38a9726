import type { Clock } from '../../../base/clock.ts'
import type { DecisionCounts, MonitoredSubject } from './decision-counts.ts'
import { minuteOf, windowMinutes } from './spike.ts'
import type { ActOnSpike, SpikeAction } from './act-on-spike.ts'
import { createDecisionCounter, type CountedRequest } from './decision-counter.ts'

/** Counts the decisions of enforced rules and their callers, and acts if the denials of a policy or configuration spike. */
export type SpikeMonitor = AsyncDisposable & {
  /** Counts the decisions on one request, one per rule. Call once per request. */
  count(request: CountedRequest): void
  /** Writes the counts and evaluates the sums over all nodes. A job calls it every two seconds. */
  run(): Promise<void>
}

export type SpikeMonitorParts = {
  readonly counts: Pick<DecisionCounts, 'add'>
  readonly actOnSpike: ActOnSpike
  readonly clock: Clock
  readonly onSpike: (monitored: MonitoredSubject, action: SpikeAction) => void
  readonly onError: (error: unknown) => void
}

/** Every node writes its counts every two seconds and then evaluates the sums over all nodes. */
export function createSpikeMonitor({ counts, actOnSpike, clock, onSpike, onError }: SpikeMonitorParts): SpikeMonitor {
  const counter = createDecisionCounter()
  const suspects = new Map<string, MonitoredSubject>()
  let runs = Promise.resolve()

  const run = (): Promise<void> => {
    const current = runs.then(runOnce)
    runs = current.catch(() => undefined) // the caller gets the error; the next run starts nevertheless
    return current
  }

  return {
    count(request) {
      for (const denied of counter.count(request, minuteOf(clock.nowMs())))
        suspects.set(`${denied.organizationId} ${denied.subject} ${denied.version}`, denied)
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
        const action = await actOnSpike(suspect[1])
        if (action !== undefined) onSpike(suspect[1], action)
      } catch (error) {
        evaluateAgain(suspect)
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  async function write(): Promise<void> {
    const unwritten = counter.takeUnwritten()
    if (unwritten.minutes.length === 0 && unwritten.callers.length === 0) return
    try {
      await counts.add(unwritten)
    } catch (error) {
      counter.putBack(unwritten)
      throw error
    }
  }
}
