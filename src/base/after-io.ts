/** Resolves in the next iteration of the event loop, after all I/O that is ready now was handled. */
export const afterIo = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
