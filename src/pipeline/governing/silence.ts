import type { Clock } from '../../base/clock.ts'

/** Stands between two pieces where nothing came for a while. */
export const silence = Symbol('silence')

/** Short enough not to be noticed by a reader, long enough not to be met between two tokens. */
const silenceMs = 100

/** Calls back when the usual while has passed; the answer cancels it. */
export type AfterSilence = (callback: () => void) => () => void

type Waiting = { readonly dueMs: number; readonly callback: () => void }

/** One timer for all who wait: they wait equally long, so whoever began first is the first to be called. */
export function createAfterSilence(clock: Clock): AfterSilence {
  const all = new Set<Waiting>()
  let isArmed = false

  function arm(): void {
    const [first] = all
    if (isArmed || first === undefined) return
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

  return (callback) => {
    const waiting = { dueMs: clock.monotonicMs() + silenceMs, callback }
    all.add(waiting)
    if (!isArmed) arm()
    return () => void all.delete(waiting)
  }
}

/** The next of what is being read, or word of a silence before it where somebody waits for more. */
export type Listener<T> = (isAwaited: boolean) => Promise<IteratorResult<T> | typeof silence>

export function createListener<T>(pieces: AsyncIterable<T>, afterSilence: AfterSilence): Listener<T> {
  const source = pieces[Symbol.asyncIterator]()
  /** What was asked for before the silence, and is still to come. */
  let late: Promise<IteratorResult<T>> | undefined
  return (isAwaited) => {
    const next = late ?? source.next()
    if (late !== undefined || !isAwaited) {
      late = undefined
      return next
    }
    return new Promise((resolve, reject) => {
      const cancel = afterSilence(() => {
        late = next
        resolve(silence)
      })
      next.then((step) => {
        cancel()
        resolve(step)
      }, reject)
    })
  }
}
