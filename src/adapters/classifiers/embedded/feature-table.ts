/** Finds features by their hash: open addressing over typed arrays, since it is asked some hundred times per kilobyte. */
export type FeatureTable = {
  /** Index of the feature with this hash, or -1. */
  indexOf(hash: number): number
}

export function createFeatureTable(hashes: Uint32Array): FeatureTable {
  const size = 2 ** Math.ceil(Math.log2(hashes.length * 2 + 2))
  const mask = size - 1
  const slots = new Int32Array(size).fill(-1)
  const keys = new Uint32Array(size)
  for (let index = 0; index < hashes.length; index++) {
    const hash = hashes[index] ?? 0
    let slot = hash & mask
    while (slots[slot] !== -1) slot = (slot + 1) & mask
    slots[slot] = index
    keys[slot] = hash
  }
  return {
    indexOf(hash) {
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const index = slots[slot] ?? -1
        if (index === -1 || keys[slot] === hash) return index
      }
    },
  }
}
