import type { Clock } from '../../src/base/clock.ts'

/** A clock that the test moves by hand. */
export type HandClock = {
  readonly clock: Clock
  /** Moves it on, calls what falls due, and resolves once whatever that began has had its turn. */
  pass(ms: number): Promise<void>
  /** How many callbacks are still to come. */
  waiting(): number
}

export function createHandClock(): HandClock {
  let nowMs = 0
  let timers: { readonly dueMs: number; readonly callback: () => void }[] = []
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => void (timers = timers.filter((other) => other !== timer))
    },
  }
  return {
    clock,
    async pass(ms) {
      nowMs += ms
      const due = timers.filter((timer) => timer.dueMs <= nowMs)
      timers = timers.filter((timer) => timer.dueMs > nowMs)
      for (const timer of due) timer.callback()
      await new Promise(setImmediate)
    },
    waiting: () => timers.length,
  }
}
