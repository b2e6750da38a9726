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

/** Called when a phase has taken too long. */
export type TimeoutOwner = { onDue(phase: Phase): void }

/** One timer for all timeouts of a call. It compares timestamps when it fires, so received bytes need not reset it. */
class CallTimeouts implements Timeouts {
  readonly clock: Clock
  readonly owner: TimeoutOwner
  readonly totalDueMs: number
  phase: Phase = 'connect'
  limitMs = Infinity
  sinceMs = 0
  armedDueMs = Infinity
  cancelTimer: (() => void) | undefined = undefined

  constructor(clock: Clock, totalMs: number | undefined, owner: TimeoutOwner) {
    this.clock = clock
    this.owner = owner
    this.totalDueMs = totalMs === undefined ? Infinity : clock.monotonicMs() + totalMs
  }

  enter(phase: Phase, limitMs: number): void {
    this.phase = phase
    this.limitMs = limitMs
    this.sinceMs = this.clock.monotonicMs()
    this.arm()
  }

  touch(): void {
    this.sinceMs = this.clock.monotonicMs()
  }

  stop(): void {
    this.cancelTimer?.()
    this.cancelTimer = undefined
    this.armedDueMs = Infinity
  }

  /** Replaces the timer only if the new deadline is earlier. A timer that fires too early sets itself again. */
  arm(): void {
    const dueMs = Math.min(this.sinceMs + this.limitMs, this.totalDueMs)
    if (dueMs >= this.armedDueMs || dueMs === Infinity) return
    this.stop()
    this.armedDueMs = dueMs
    const delayMs = Math.max(0, dueMs - this.clock.monotonicMs())
    this.cancelTimer = this.clock.after(Math.min(delayMs, maxTimerMs), () => this.check())
  }

  check(): void {
    this.stop()
    const nowMs = this.clock.monotonicMs()
    if (nowMs >= this.totalDueMs) this.owner.onDue('total')
    else if (nowMs >= this.sinceMs + this.limitMs) this.owner.onDue(this.phase)
    else this.arm()
  }
}

export const createTimeouts = (clock: Clock, totalMs: number | undefined, owner: TimeoutOwner): Timeouts =>
  new CallTimeouts(clock, totalMs, owner)
