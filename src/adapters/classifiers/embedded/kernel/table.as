/** Hash tables that `load.ts` writes: pairs of a hash and a value, and a bit map that rules out most absent hashes first. */
@unmanaged
export class Table {
  slots: usize
  slotMask: i32
  bits: usize
  bitMask: i32
}

/** The value of a hash, or 0. */
export function find(table: Table, hash: i32): i32 {
  const bit = (hash >>> 7) & table.bitMask
  if ((load<i32>(table.bits + ((bit >> 5) << 2)) & (1 << (bit & 31))) == 0) return 0
  let slot = hash & table.slotMask
  while (true) {
    const at = table.slots + (slot << 3)
    const value = load<i32>(at, 4)
    if (value == 0 || load<i32>(at) == hash) return value
    slot = (slot + 1) & table.slotMask
  }
}

// @ts-ignore: a decorator of AssemblyScript
@inline
export function mix(hash: i32): i32 {
  let mixed = hash
  mixed = (mixed ^ (mixed >>> 16)) * 0x7feb352d
  mixed = (mixed ^ (mixed >>> 15)) * <i32>0x846ca68b
  return mixed ^ (mixed >>> 16)
}

export const firstHash: i32 = <i32>0x811c9dc5
export const prime: i32 = 0x01000193

/** Hash of a word together with the words before it. */
// @ts-ignore: a decorator of AssemblyScript
@inline
export function hashNext(before: i32, word: i32): i32 {
  return mix((before * 31) ^ word)
}
