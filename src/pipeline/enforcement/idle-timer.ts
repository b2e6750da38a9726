import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { pullStreamOf, pending } from '../../base/pull-stream.ts'

/** Emitted between two chunks if the upstream sends nothing for `idleMs`. */
export const idle = Symbol('idle')

/** Short enough that a reader does not notice it, longer than the usual gap between two tokens. */
const idleMs = 100

export type IdleWaiter = { dueMs: number; readonly callback: () => void }

/** One clock timer for all streams. All wait equally long, so the first that started is the first to be called. */
export type IdleTimers = {
  /** Starts or restarts the wait. */
  start(waiter: IdleWaiter): void
  stop(waiter: IdleWaiter): void
}

export function createIdleTimers(clock: Clock): IdleTimers {
  const waiters = new Set<IdleWaiter>()
  let isArmed = false

  function arm(): void {
    const [first] = waiters
    if (first === undefined) return
    isArmed = true
    clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), callDue)
  }

  function callDue(): void {
    isArmed = false
    const nowMs = clock.monotonicMs()
    for (const waiter of waiters) {
      if (waiter.dueMs > nowMs) break
      waiters.delete(waiter)
      waiter.callback()
    }
    arm()
  }

  return {
    start(waiter) {
      waiter.dueMs = clock.monotonicMs() + idleMs
      waiters.delete(waiter)
      waiters.add(waiter)
      if (!isArmed) arm()
    },
    stop: (waiter) => void waiters.delete(waiter),
  }
}

/** A pull stream that reports idle gaps. */
export type IdleAwareStream<T> = {
  /** Polls the stream; returns `idle` once per gap. */
  poll(): MaybePromise<T | typeof idle | typeof pending | undefined>
  /** `isWatched`: whether an idle gap is to be reported. */
  onReadable(wake: () => void, isWatched: boolean): void
}

export function createIdleAwareStream<T>(chunks: AsyncIterable<T>, idleTimers: IdleTimers): IdleAwareStream<T> {
  const source = pullStreamOf(chunks)
  let state: 'reading' | 'waiting' | 'idle' | 'reported' = 'reading'
  let wakeUp = (): void => {}
  const waiter: IdleWaiter = {
    dueMs: 0,
    callback() {
      state = 'idle'
      wakeUp()
    },
  }
  return {
    poll() {
      if (state === 'idle') {
        state = 'reported'
        return idle
      }
      const polled = source.poll()
      if (polled === pending) return pending
      if (state === 'waiting') idleTimers.stop(waiter)
      state = 'reading'
      return polled
    },
    onReadable(wake, isWatched) {
      wakeUp = wake
      source.onReadable(wake)
      if (state !== 'reading' || !isWatched) return
      state = 'waiting'
      idleTimers.start(waiter)
    },
  }
}
