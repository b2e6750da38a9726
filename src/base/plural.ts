/** A count with its noun: `1 event`, `2 events`. */
export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** When a caller may retry, in the whole seconds that it is also told to wait. */
export const retryIn = (seconds: number): string => `Retry in ${plural(Math.max(1, Math.ceil(seconds)), 'second')}.`
