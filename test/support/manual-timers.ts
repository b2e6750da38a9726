import { systemClock, type Clock } from '../../src/base/clock.ts'

/** The system time, but timers of `leastMs` or longer fire when the test decides. */
export function createManualTimers(leastMs: number): { clock: Clock; pass(delayMs: number): void } {
  const waiting = new Set<{ delayMs: number; callback: () => void }>()
  const after: Clock['after'] = (delayMs, callback) => {
    if (delayMs < leastMs) return systemClock.after(delayMs, callback)
    const timer = { delayMs, callback }
    waiting.add(timer)
    return () => void waiting.delete(timer)
  }
  const pass = (delayMs: number): void => {
    for (const timer of waiting) if (timer.delayMs === delayMs && waiting.delete(timer)) timer.callback()
  }
  return { clock: { ...systemClock, after }, pass }
}
