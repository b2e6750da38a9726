import type { Clock } from '../../../base/clock.ts'
import type { Phase } from '../failures.ts'

/** Time limits of one call in milliseconds. */
export type TimeLimits = {
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Of the whole call; unbounded when left out. */
  readonly timeoutMs?: number
}

export type Timeouts = {
  /** A new phase begins, with a limit of its own. */
  enter(phase: Phase, limitMs: number): void
  /** The phase starts over: something happened. Costs one look at the clock and no timer. */
  touch(): void
  stop(): void
}

/** Node fires longer timers at once. */
const longestTimerMs = 2 ** 31 - 1

/** One timer for all limits of a call: it looks at timestamps when it fires, so that bytes need not move it. */
export function createTimeouts(clock: Clock, totalMs: number | undefined, onDue: (phase: Phase) => void): Timeouts {
  const totalDueMs = totalMs === undefined ? Infinity : clock.monotonicMs() + totalMs
  let phase: Phase = 'connect'
  let limitMs = Infinity
  let sinceMs = 0
  let armedDueMs = Infinity
  let cancel: (() => void) | undefined

  const stop = (): void => {
    cancel?.()
    cancel = undefined
    armedDueMs = Infinity
  }

  /** A timer that fires too early only arms itself again, so it is moved forward and never back. */
  const arm = (): void => {
    const dueMs = Math.min(sinceMs + limitMs, totalDueMs)
    if (dueMs >= armedDueMs || dueMs === Infinity) return
    stop()
    armedDueMs = dueMs
    const delayMs = Math.max(0, dueMs - clock.monotonicMs())
    cancel = clock.after(Math.min(delayMs, longestTimerMs), check)
  }

  const check = (): void => {
    stop()
    const nowMs = clock.monotonicMs()
    if (nowMs >= totalDueMs) onDue('total')
    else if (nowMs >= sinceMs + limitMs) onDue(phase)
    else arm()
  }

  return {
    enter(next, nextLimitMs) {
      phase = next
      limitMs = nextLimitMs
      sinceMs = clock.monotonicMs()
      arm()
    },
    touch() {
      sinceMs = clock.monotonicMs()
    },
    stop,
  }
}
