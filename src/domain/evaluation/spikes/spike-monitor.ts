import { repeat, type Clock } from '../../../base/clock.ts'
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
  /** Writes what was counted and looks at the sums of all nodes; it does so by itself every two seconds. */
  look(): Promise<void>
}

export type SpikeMonitorParts = {
  readonly counts: Pick<DecisionCounts, 'add'>
  readonly takeOut: AutoDisable
  readonly clock: Clock
  readonly onTakenOut: (watched: MonitoredSubject) => void
  readonly onError: (error: unknown) => void
}

/** How often counts are written, and those who denied something are looked at. */
const everyMs = 2_000
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

  const look = (): Promise<void> => (rounds = rounds.then(lookOnce))
  const hurry = (): void => {
    if (clock.monotonicMs() - hurriedAtMs < hurryEveryMs) return
    hurriedAtMs = clock.monotonicMs()
    void look()
  }
  const beating = repeat(clock, look, everyMs)

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
      beating[Symbol.dispose]()
      await rounds
      await write()
    },
  }

  async function lookOnce(): Promise<void> {
    const due = [...suspects]
    suspects.clear()
    tally.forgetBefore(minuteOf(clock.nowMs()) - windowMinutes)
    const isWritten = await write()
    for (const [key, watched] of due) {
      try {
        if (!isWritten) suspects.set(key, watched)
        else if (await takeOut(watched)) onTakenOut(watched)
      } catch (error) {
        suspects.set(key, watched)
        onError(error)
      }
    }
  }

  async function write(): Promise<boolean> {
    const unwritten = tally.takeUnwritten()
    if (unwritten.length === 0) return true
    try {
      await counts.add(unwritten)
      return true
    } catch (error) {
      tally.putBack(unwritten)
      onError(error)
      return false
    }
  }
}
