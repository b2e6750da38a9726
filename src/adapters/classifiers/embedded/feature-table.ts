/**
 * A hash table of features with open addressing over typed arrays, because it is read some hundred times per kilobyte. Most hashes
 * are absent; a small bit map that fits the processor's cache rules these out first.
 */
export type FeatureTable = {
  /** Index of the feature with this hash, or -1. */
  indexOf(hash: number): number
}

/** The arrays of a table. The kernel reads the same ones. */
export type TableArrays = {
  /** Pairs of a hash and a value, side by side because they are read together. The value of a free slot is 0. */
  readonly slots: Int32Array
  readonly bits: Int32Array
}

/** Fills a table with hashes and their values, none of which is 0. */
export function fillTable(hashes: ArrayLike<number>, valueOf: (index: number) => number): TableArrays {
  const size = 2 ** Math.ceil(Math.log2(hashes.length * 2 + 2))
  const mask = size - 1
  const slots = new Int32Array(size * 2)
  for (let index = 0; index < hashes.length; index++) {
    const hash = hashes[index] ?? 0
    let slot = hash & mask
    while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask
    slots[slot * 2] = hash
    slots[slot * 2 + 1] = valueOf(index)
  }
  return { slots, bits: fillBits(hashes) }
}

/** The bit map of a table: eight bits for each slot that the hashes need. */
export function fillBits(hashes: ArrayLike<number>): Int32Array {
  const bits = new Int32Array(Math.max(1, (2 ** Math.ceil(Math.log2(hashes.length * 2 + 2))) >> 2))
  const bitMask = bits.length * 32 - 1
  for (let index = 0; index < hashes.length; index++) {
    const bit = ((hashes[index] ?? 0) >>> 7) & bitMask
    bits[bit >> 5] = (bits[bit >> 5] ?? 0) | (1 << (bit & 31))
  }
  return bits
}

export function createFeatureTable(hashes: Uint32Array): FeatureTable {
  const { slots, bits } = fillTable(hashes, (index) => index + 1)
  const mask = slots.length / 2 - 1
  const bitMask = bits.length * 32 - 1
  return {
    indexOf(hash) {
      const bit = (hash >>> 7) & bitMask
      if (((bits[bit >> 5] ?? 0) & (1 << (bit & 31))) === 0) return -1
      const wanted = hash | 0
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const found = slots[slot * 2 + 1] ?? 0
        if (found === 0 || slots[slot * 2] === wanted) return found - 1
      }
    },
  }
}
