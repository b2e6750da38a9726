import { randomBytes } from 'node:crypto'

/** Randomness as a part, so that a failing run can be repeated from its seed. */
export type Random = {
  bytes(count: number): Uint8Array
  /** A number in [0, 1). */
  fraction(): number
}

const poolBytes = 4096
let pool: Uint8Array = new Uint8Array(0)
let used = 0

/** Drawn from the system in larger portions: asking it for every id costs more than the id. No byte is given out twice. */
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
