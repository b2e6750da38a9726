import { systemClock, type Clock } from '../../src/base/clock.ts'

/** The system time, `times` as fast; `skip` jumps ahead. */
export function createFastClock(times: number): Clock & { skip(ms: number): void } {
  const startMs = systemClock.nowMs()
  const startMonotonicMs = systemClock.monotonicMs()
  let skippedMs = 0
  return {
    nowMs: () => Math.floor(startMs + (systemClock.nowMs() - startMs) * times + skippedMs),
    monotonicMs: () => startMonotonicMs + (systemClock.monotonicMs() - startMonotonicMs) * times + skippedMs,
    after: (delayMs, callback) => systemClock.after(delayMs / times, callback),
    skip: (ms) => void (skippedMs += ms),
  }
}
