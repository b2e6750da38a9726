import type { Clock } from '../../src/base/clock.ts'

/** A clock that the test moves by hand. */
export type HandClock = {
  readonly clock: Clock
  /** Advances the clock and calls the timers that are due. */
  advance(ms: number): void
  /** The same, and resolves once the callbacks' asynchronous work has had a turn. */
  pass(ms: number): Promise<void>
  /** Number of pending timers. */
  waiting(): number
}

export function createHandClock(): HandClock {
  let nowMs = 0
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>()
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { dueMs: nowMs + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const advance = (ms: number): void => {
    nowMs += ms
    const due = Array.from(timers).filter(({ dueMs }) => dueMs <= nowMs)
    for (const timer of due) if (timers.delete(timer)) timer.callback()
  }
  return {
    clock,
    advance,
    async pass(ms) {
      advance(ms)
      await new Promise(setImmediate)
    },
    waiting: () => timers.size,
  }
}
