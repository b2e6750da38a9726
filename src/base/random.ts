import { randomBytes } from 'node:crypto'

/** Randomness as a part, so that a failing run can be repeated from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  /** A number in [0, 1). */
  fraction(): number
}

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random(),
}
