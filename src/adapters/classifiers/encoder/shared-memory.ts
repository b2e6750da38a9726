/** What the service and the thread of the encoder tell each other while native code runs, which receives no message. */

/** `cancelled`: the id of the text that nobody waits for. `isNative`: 1 while native code runs. */
export const sharedAt = { cancelled: 0, isNative: 1 } as const

/** The id that cancels every text. */
export const everyText = -1

export const createSharedMemory = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
