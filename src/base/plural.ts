/** A count with its noun: `1 event`, `2 events`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The end of an error message, in the same rounded seconds as the `Retry-After` header. */
export const retryIn = (seconds: number): string => `Retry in ${plural(Math.max(1, Math.ceil(seconds)), 'second')}.`
