import type { Clock } from '../../src/base/clock.ts'
import { isPromise, type MaybePromise } from '../../src/base/maybe-promise.ts'

/** A clock that the test moves by hand. */
export type HandClock = {
  readonly clock: Clock
  /** Advances the clock and calls the timers that are due. */
  advance(ms: number): void
  /** The same, and resolves once the callbacks' asynchronous work has had a turn. */
  pass(ms: number): Promise<void>
  /** Advances by a millisecond at a time, while a timer is pending, until the promise is settled. */
  passUntil<T>(promise: MaybePromise<T>): Promise<T>
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
  const pass = async (ms: number): Promise<void> => {
    advance(ms)
    await new Promise(setImmediate)
  }
  return {
    clock,
    advance,
    pass,
    async passUntil(promise) {
      let isSettled = !isPromise(promise)
      const settle = (): void => void (isSettled = true)
      Promise.resolve(promise).then(settle, settle)
      while (!isSettled) await pass(timers.size > 0 ? 1 : 0)
      return promise
    },
    waiting: () => timers.size,
  }
}
