/**
 * A value that is mostly at hand, and otherwise on its way. On the road of a request, waiting for what is already there
 * costs more than the work between two waits: `isPending(value) ? await value : value`.
 */
export type Eventually<T> = T | Promise<T>

export const isPending = <T>(value: Eventually<T>): value is Promise<T> => value instanceof Promise

/** Goes on with a value: at once where it is at hand. */
export const andThen = <T, R>(value: Eventually<T>, use: (value: T) => Eventually<R>): Eventually<R> =>
  isPending(value) ? value.then(use) : use(value)

/** Does some work for each item, one after the other: at once, up to the first that has to be waited for. */
export function inTurn<T>(items: readonly T[], work: (item: T) => Eventually<unknown>): Eventually<void> {
  let begun = 0
  for (const item of items) {
    begun += 1
    const done = work(item)
    if (isPending(done)) return done.then(() => inTurn(items.slice(begun), work))
  }
}

/** All of them: at once where they all are at hand. */
export const allOf = <T>(values: readonly Eventually<T>[]): Eventually<readonly T[]> =>
  values.every((value): value is T => !isPending(value)) ? values : Promise.all(values)
