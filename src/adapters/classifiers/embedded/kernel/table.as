/** Hash tables that `load.ts` writes: pairs of a hash and a value, and a bit map that rules out most absent hashes first. */
@unmanaged
export class Table {
  slots: usize
  slotMask: i32
  bits: usize
  bitMask: i32
}

/** False if the hash is absent, which most hashes are. */
// @ts-ignore: a decorator of AssemblyScript
@inline
export function mayHave(table: Table, hash: i32): bool {
  const bit = (hash >>> 7) & table.bitMask
  return ((load<u8>(table.bits + (bit >> 3)) >> (bit & 7)) & 1) != 0
}

/** The value of a hash, or 0. */
export function find(table: Table, hash: i32): i32 {
  return mayHave(table, hash) ? findSlot(table, hash) : 0
}

/** The same, after `mayHave`. */
export function findSlot(table: Table, hash: i32): i32 {
  let slot = hash & table.slotMask
  while (true) {
    const at = table.slots + (slot << 3)
    const value = load<i32>(at, 4)
    if (value == 0 || load<i32>(at) == hash) return value
    slot = (slot + 1) & table.slotMask
  }
}

/**
 * The weights of a feature, after `mayHave`: eight bytes, one per head and two of zero. Its slots have 16 bytes, so that a hash and its
 * weights are read together: the hash, 1 if the slot is used, the weights.
 */
export function findWeights(table: Table, hash: i32): v128 {
  let slot = hash & table.slotMask
  while (true) {
    const at = table.slots + (slot << 4)
    if (load<i32>(at, 4) == 0) return i16x8.splat(0)
    if (load<i32>(at) == hash) return v128.load_ext<i8>(at, 8)
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
