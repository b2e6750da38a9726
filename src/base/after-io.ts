/** Resolves once all that is ready in this turn of the event loop was dealt with. */
export const afterIo = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
