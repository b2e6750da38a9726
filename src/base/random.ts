import { randomBytes } from 'node:crypto'

/** The source of randomness. It is a parameter, so that a failing test can be repeated from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  /** A number in [0, 1). */
  fraction(): number
}

const poolBytes = 4096
let pool: Uint8Array = new Uint8Array(0)
let used = 0

/** Reads the system's random source in larger blocks, because one read per id costs more than the id. No byte is used twice. */
function pooledBytes(count: number): Uint8Array {
  if (count > poolBytes / 8) return randomBytes(count)
  if (used + count > pool.length) {
    pool = new Uint8Array(randomBytes(poolBytes)) // not a Buffer, whose slices are views of it
    used = 0
  }
  const bytes = pool.slice(used, used + count)
  pool.fill(0, used, used + count)
  used += count
  return bytes
}

export const systemRandom: Random = { bytes: pooledBytes, fraction: () => Math.random() }
