/**
 * A value that is mostly at hand, and otherwise on its way. On the road of a request, waiting for what is already there
 * costs more than the work between two waits: `isPending(value) ? await value : value`.
 */
export type Eventually<T> = T | Promise<T>

export const isPending = <T>(value: Eventually<T>): value is Promise<T> => value instanceof Promise
