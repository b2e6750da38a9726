import type { Clock } from '../../../base/clock.ts'
import type { CheckOutcome } from '../verdict/outcome.ts'
import type { DecisionCounts, MonitoredSubject } from './decision-counts.ts'
import { countedOutcomes } from './counted-outcomes.ts'
import { hasManyDenials, minuteOf, windowMinutes } from './spike.ts'
import type { AutoDisable } from './auto-disable.ts'
import { createDecisionCounter } from './decision-counter.ts'

/** Watches what is enforced, and takes out of force what suddenly denies too much. */
export type SpikeMonitor = AsyncDisposable & {
  /** Once for each request, with all that was said about it. It waits for nothing. */
  note(request: { readonly organizationId: string; readonly outcomes: readonly CheckOutcome[] }): void
  /** Writes what was counted and looks at the sums of all nodes. A job calls it every two seconds. */
  look(): Promise<void>
}

export type SpikeMonitorParts = {
  readonly counts: Pick<DecisionCounts, 'add'>
  readonly takeOut: AutoDisable
  readonly clock: Clock
  readonly onTakenOut: (watched: MonitoredSubject) => void
  readonly onError: (error: unknown) => void
}

/** How long a hurried look at the same version is good for. */
const hurryEveryMs = 500

/**
 * Every node writes what it counted every two seconds and then looks at the sum over all nodes. Where its own counts alone
 * are too many, it does so at once.
 */
export function createSpikeMonitor({ counts, takeOut, clock, onTakenOut, onError }: SpikeMonitorParts): SpikeMonitor {
  const tally = createDecisionCounter()
  const suspects = new Map<string, MonitoredSubject>()
  let rounds = Promise.resolve()
  let hurriedAtMs = Number.NEGATIVE_INFINITY

  const look = (): Promise<void> => {
    const round = rounds.then(lookOnce)
    rounds = round.catch(() => undefined) // the caller gets the error; the next round starts all the same
    return round
  }
  const hurry = (): void => {
    if (clock.monotonicMs() - hurriedAtMs < hurryEveryMs) return
    hurriedAtMs = clock.monotonicMs()
    look().catch(onError)
  }

  return {
    note({ organizationId, outcomes }) {
      const minute = minuteOf(clock.nowMs())
      for (const { subject, version, isDenied } of countedOutcomes(outcomes)) {
        const watched = { organizationId, subject, version }
        tally.count(watched, minute, isDenied)
        if (!isDenied) continue
        suspects.set(`${organizationId} ${subject} ${version}`, watched)
        if (hasManyDenials(tally.latest(watched, minute))) hurry()
      }
    },
    look,
    async [Symbol.asyncDispose]() {
      await rounds
      await write().catch(onError)
    },
  }

  async function lookOnce(): Promise<void> {
    const due = [...suspects]
    suspects.clear()
    tally.forgetBefore(minuteOf(clock.nowMs()) - windowMinutes)
    const evaluateAgain = ([key, watched]: (typeof due)[number]): void => void suspects.set(key, watched)
    await write().catch((error: unknown) => {
      due.forEach(evaluateAgain)
      throw error
    })
    const failures: unknown[] = []
    for (const suspect of due) {
      try {
        if (await takeOut(suspect[1])) onTakenOut(suspect[1])
      } catch (error) {
        evaluateAgain(suspect)
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  async function write(): Promise<void> {
    const unwritten = tally.takeUnwritten()
    if (unwritten.length === 0) return
    try {
      await counts.add(unwritten)
    } catch (error) {
      tally.putBack(unwritten)
      throw error
    }
  }
}
