import { createHandClock } from '../../test/support/hand-clock.ts'
import { isPromise, type MaybePromise } from '../../src/base/maybe-promise.ts'
import type { Clock } from '../../src/base/clock.ts'

/** A simulated clock that stands still while real work is done. */
export type PacedClock = {
  readonly clock: Clock
  /** Runs work that takes no simulated time. */
  work<T>(promise: Promise<T>): Promise<T>
  /** Advances until the promise is settled, and returns its value. */
  settled<T>(promise: MaybePromise<T>): Promise<T>
  /** Advances to a time, unless it is over. */
  advanceTo(ms: number): Promise<void>
}

export function createPacedClock(): PacedClock {
  const { clock, advance, waiting } = createHandClock()
  let works = 0

  async function step(leftMs: number): Promise<void> {
    if (works === 0) advance(waiting() > 0 ? Math.min(1, leftMs) : leftMs)
    await new Promise(setImmediate)
  }

  return {
    clock,
    async work(promise) {
      works += 1
      return promise.finally(() => (works -= 1))
    },
    async settled(promise) {
      if (!isPromise(promise)) return promise
      let isSettled = false
      const settle = (): void => void (isSettled = true)
      promise.then(settle, settle)
      await new Promise(setImmediate)
      while (!isSettled) await step(waiting() > 0 ? 1 : 0)
      return promise
    },
    async advanceTo(ms) {
      while (clock.monotonicMs() < ms) await step(ms - clock.monotonicMs())
    },
  }
}
