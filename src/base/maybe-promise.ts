/**
 * A value that is usually available synchronously, otherwise a promise. Steps of a request `await` it. Work per chunk or per text
 * block does not, because there the awaits can cost more than the work (docs/decisions/0004-pull-streams.md).
 */
export type MaybePromise<T> = T | Promise<T>

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> => value instanceof Promise

/** Passes the value to `use`: synchronously unless it is a promise. */
export const andThen = <T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  isPromise(value) ? value.then(use) : use(value)

/** Runs `work` for each item in order. It runs synchronously up to the first item whose work returns a promise. */
export function sequentially<T>(items: readonly T[], work: (item: T) => MaybePromise<unknown>): MaybePromise<void> {
  let started = 0
  for (const item of items) {
    started += 1
    const done = work(item)
    if (isPromise(done)) return done.then(() => sequentially(items.slice(started), work))
  }
}

/** Whether all items pass, one after the other. */
export function every<T>(items: readonly T[], passes: (item: T) => MaybePromise<boolean>): MaybePromise<boolean> {
  for (const [at, item] of items.entries()) {
    const isPassed = passes(item)
    if (isPromise(isPassed)) return isPassed.then((passed) => passed && every(items.slice(at + 1), passes))
    if (!isPassed) return false
  }
  return true
}

/** Like `Promise.all`, but synchronous if no value is a promise. */
export const all = <T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> =>
  values.every((value): value is T => !isPromise(value)) ? values : Promise.all(values)
