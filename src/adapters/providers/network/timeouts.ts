import type { Clock } from '../../../base/clock.ts'
import type { Phase } from '../failures.ts'

/** Timeouts of one call, in milliseconds. */
export type TimeLimits = {
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** For the whole call. Unlimited if undefined. */
  readonly timeoutMs?: number
}

export type Timeouts = {
  /** Starts a new phase with its own timeout. */
  enter(phase: Phase, limitMs: number): void
  /** Restarts the timeout of the phase. Reads the clock once and sets no timer. */
  touch(): void
  stop(): void
}

/** Node fires longer timers immediately. */
const maxTimerMs = 2 ** 31 - 1

/** One timer for all timeouts of a call. It compares timestamps when it fires, so received bytes need not reset it. */
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

  /** Replaces the timer only if the new deadline is earlier. A timer that fires too early sets itself again. */
  const arm = (): void => {
    const dueMs = Math.min(sinceMs + limitMs, totalDueMs)
    if (dueMs >= armedDueMs || dueMs === Infinity) return
    stop()
    armedDueMs = dueMs
    const delayMs = Math.max(0, dueMs - clock.monotonicMs())
    cancel = clock.after(Math.min(delayMs, maxTimerMs), check)
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
