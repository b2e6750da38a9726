import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { pullStreamOf, pending } from '../../base/pull-stream.ts'

/** Stands between two pieces where nothing came for a while. */
export const idle = Symbol('silence')

/** Short enough not to be noticed by a reader, long enough not to be met between two tokens. */
const idleMs = 100

/** Somebody who wants to be called when nothing has come for the usual while. */
export type IdleWaiter = { dueMs: number; readonly callback: () => void }

/** One timer for all who wait: they wait equally long, so whoever began first is the first to be called. */
export type IdleTimers = {
  /** The wait begins now, or anew. */
  begin(waiting: IdleWaiter): void
  end(waiting: IdleWaiter): void
}

export function createIdleTimers(clock: Clock): IdleTimers {
  const all = new Set<IdleWaiter>()
  let isArmed = false

  function arm(): void {
    const [first] = all
    if (first === undefined) return
    isArmed = true
    clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), callDue)
  }

  function callDue(): void {
    isArmed = false
    const nowMs = clock.monotonicMs()
    for (const waiting of all) {
      if (waiting.dueMs > nowMs) break
      all.delete(waiting)
      waiting.callback()
    }
    arm()
  }

  return {
    begin(waiting) {
      waiting.dueMs = clock.monotonicMs() + idleMs
      all.delete(waiting)
      all.add(waiting)
      if (!isArmed) arm()
    },
    end: (waiting) => void all.delete(waiting),
  }
}

/** What is being read, and word of a silence where somebody waits for more. */
export type IdleAwareStream<T> = {
  /** As from a flow; of each silence it is told once. */
  take(): MaybePromise<T | typeof idle | typeof pending | undefined>
  whenMore(wake: () => void, isAwaited: boolean): void
}

export function createIdleAwareStream<T>(pieces: AsyncIterable<T>, silences: IdleTimers): IdleAwareStream<T> {
  const source = pullStreamOf(pieces)
  let stage: 'listening' | 'waiting' | 'silent' | 'told' = 'listening'
  let wakeUp = (): void => {}
  const waiting: IdleWaiter = {
    dueMs: 0,
    callback() {
      stage = 'silent'
      wakeUp()
    },
  }
  return {
    take() {
      if (stage === 'silent') {
        stage = 'told'
        return idle
      }
      const taken = source.poll()
      if (taken === pending) return pending
      if (stage === 'waiting') silences.end(waiting)
      stage = 'listening'
      return taken
    },
    whenMore(wake, isAwaited) {
      wakeUp = wake
      source.onReadable(wake)
      if (stage !== 'listening' || !isAwaited) return
      stage = 'waiting'
      silences.begin(waiting)
    },
  }
}
