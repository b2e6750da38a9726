import type { Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { pending, type PullStream } from '../../base/pull-stream.ts'

/** Emitted between two chunks if the upstream sends nothing for `idleMs`. */
export const idle = Symbol('idle')

/** Short enough that a reader does not notice it, longer than the usual gap between two tokens. */
const idleMs = 100

export type IdleOwner = { onIdle(): void }

/** `dueMs` is Infinity while it does not wait. It then has no owner, because it may be queued for longer than its stream lasts. */
export type IdleWaiter = { dueMs: number; isQueued: boolean; owner: IdleOwner | undefined }

export const createIdleWaiter = (): IdleWaiter => ({ dueMs: Infinity, isQueued: false, owner: undefined })

/** One clock timer for all streams. A wait is restarted with every chunk, so that only stores the new time. */
export type IdleTimers = {
  /** Starts or restarts the wait. */
  start(waiter: IdleWaiter, owner: IdleOwner): void
  stop(waiter: IdleWaiter): void
}

export function createIdleTimers(clock: Clock): IdleTimers {
  /** All that wait, and those that stopped since the timer was last due. */
  let queued: IdleWaiter[] = []
  let isArmed = false

  function arm(dueMs: number): void {
    isArmed = true
    clock.after(Math.max(0, dueMs - clock.monotonicMs()), onDue)
  }

  function onDue(): void {
    isArmed = false
    const nowMs = clock.monotonicMs()
    const all = queued
    queued = all.filter((waiter) => (waiter.isQueued = waiter.dueMs > nowMs && waiter.dueMs !== Infinity))
    for (const waiter of all) if (waiter.dueMs <= nowMs) stop(waiter)?.onIdle()
    const nextMs = queued.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity)
    if (nextMs !== Infinity && !isArmed) arm(nextMs)
  }

  function stop(waiter: IdleWaiter): IdleOwner | undefined {
    const { owner } = waiter
    waiter.dueMs = Infinity
    waiter.owner = undefined
    return owner
  }

  return {
    start(waiter, owner) {
      waiter.dueMs = clock.monotonicMs() + idleMs
      waiter.owner = owner
      if (waiter.isQueued) return
      waiter.isQueued = true
      queued.push(waiter)
      if (!isArmed) arm(waiter.dueMs)
    },
    stop: (waiter) => void stop(waiter),
  }
}

/** A pull stream that reports idle gaps. */
export type IdleAwareStream<T> = {
  /** Polls the stream; returns `idle` once per gap. */
  poll(): MaybePromise<T | typeof idle | typeof pending | undefined>
  /** `isWatched`: whether an idle gap is to be reported. */
  onReadable(wake: () => void, isWatched: boolean): void
}

export const createIdleAwareStream = <T>(source: PullStream<T>, idleTimers: IdleTimers): IdleAwareStream<T> =>
  new WatchedStream(source, idleTimers)

/** A class, because an object with its own closures would cost every response more memory. */
class WatchedStream<T> implements IdleAwareStream<T>, IdleOwner {
  readonly source: PullStream<T>
  readonly idleTimers: IdleTimers
  state: 'reading' | 'waiting' | 'idle' | 'reported' = 'reading'
  wake: (() => void) | undefined = undefined
  readonly waiter = createIdleWaiter()

  constructor(source: PullStream<T>, idleTimers: IdleTimers) {
    this.source = source
    this.idleTimers = idleTimers
  }

  poll(): MaybePromise<T | typeof idle | typeof pending | undefined> {
    if (this.state === 'idle') {
      this.state = 'reported'
      return idle
    }
    const polled = this.source.poll()
    if (polled === pending) return pending
    if (this.state === 'waiting') this.idleTimers.stop(this.waiter)
    this.state = 'reading'
    return polled
  }

  onReadable(wake: () => void, isWatched: boolean): void {
    this.wake = wake
    this.source.onReadable(wake)
    if (this.state !== 'reading' || !isWatched) return
    this.state = 'waiting'
    this.idleTimers.start(this.waiter, this)
  }

  onIdle(): void {
    this.state = 'idle'
    this.wake?.()
  }
}
