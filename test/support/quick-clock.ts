import type { Clock } from '../../src/base/clock.ts'

/** A clock without waiting: a timer fires at the end of the turn, and the clock then shows its due time. */
export function createQuickClock(): Clock & { pass(ms: number): void } {
  let nowMs = 1_760_000_000_000
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(delayMs, callback) {
      const timer = setImmediate(() => {
        nowMs += delayMs
        callback()
      })
      return () => clearImmediate(timer)
    },
    pass: (ms) => void (nowMs += ms),
  }
}
