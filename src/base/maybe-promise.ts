/**
 * A value that is mostly at hand, and otherwise on its way. On the road of a request, waiting for what is already there
 * costs more than the work between two waits: `isPending(value) ? await value : value`.
 */
export type MaybePromise<T> = T | Promise<T>

export const isPromise = <T>(value: MaybePromise<T>): value is Promise<T> => value instanceof Promise

/** Goes on with a value: at once where it is at hand. */
export const andThen = <T, R>(value: MaybePromise<T>, use: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  isPromise(value) ? value.then(use) : use(value)

/** Does some work for each item, one after the other: at once, up to the first that has to be waited for. */
export function sequentially<T>(items: readonly T[], work: (item: T) => MaybePromise<unknown>): MaybePromise<void> {
  let begun = 0
  for (const item of items) {
    begun += 1
    const done = work(item)
    if (isPromise(done)) return done.then(() => sequentially(items.slice(begun), work))
  }
}

/** All of them: at once where they all are at hand. */
export const all = <T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> =>
  values.every((value): value is T => !isPromise(value)) ? values : Promise.all(values)
