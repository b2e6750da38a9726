/**
 * The state of one text: a block of memory that `text-streams.ts` may copy out and in again. It has no pointers. A text is a sequence
 * of words in buckets of 48; the rows of the last four buckets are kept, and one score per head for each window that is complete.
 */
@unmanaged
export class State {
  /** Words read so far. */
  words: i32
  buckets: i32
  /** Buckets whose windows and evidence of age are kept, less one; their number is a power of two. */
  bucketMask: i32
  /** Position of the first character that is not read yet. */
  position: i32
  /** Characters after it that wait for more text. */
  tailLength: i32
  /** The last place where a decision was made, and the words up to it. */
  placePosition: i32
  placeWords: i32
  /** No decision is made at places after this position; they are only listed. */
  decidesTo: i32
  /** Words that the bucket has space for. */
  bucketLeft: i32
  /** Slots of pairs of neighbours in use in the bucket. */
  pairs: i32
  /** Words up to the end of the last letters that were written one by one, and of single letters after them. */
  spelledWords: i32
}

export const headCount: i32 = 6
export const bucketWords: i32 = 48
export const keptRows: i32 = 4
export const rowBytes: i32 = 384
/** Characters that can wait: 200 single letters, a character between each two, and three more. */
export const maxTail: i32 = 408

export const recentHashesAt: usize = 64
export const recentListsAt: usize = 96
/** Per category the highest score at the places so far. */
export const decidedAt: usize = 128
export const pairSlotsAt: usize = 176
export const pairHashesAt: usize = 272
export const tokensAt: usize = 464
export const tokenSlots: i32 = 64
export const pairBitsAt: usize = 976
const rowsAt: usize = 1104
export const tailAt: usize = 2640
const bucketsAt: usize = 3456

// @ts-ignore: a decorator of AssemblyScript
@inline
export function rowOf(state: State, bucket: i32): usize {
  return changetype<usize>(state) + rowsAt + <usize>((bucket & (keptRows - 1)) * rowBytes)
}

/** Two counts per bucket, of plain and of other evidence of a minor's age. */
// @ts-ignore: a decorator of AssemblyScript
@inline
export function ageCuesOf(state: State, bucket: i32): usize {
  return changetype<usize>(state) + bucketsAt + <usize>((bucket & state.bucketMask) << 1)
}

/** One byte per window of the sexual head. */
// @ts-ignore: a decorator of AssemblyScript
@inline
export function sexualKindOf(state: State, window: i32): usize {
  return changetype<usize>(state) + bucketsAt + <usize>(((state.bucketMask + 1) << 1) + (window & state.bucketMask))
}

// @ts-ignore: a decorator of AssemblyScript
@inline
export function scoreOf(state: State, head: i32, window: i32): usize {
  const capacity = state.bucketMask + 1
  return changetype<usize>(state) + bucketsAt + <usize>((capacity << 2) + ((head * capacity + (window & state.bucketMask)) << 3))
}

export function stateBytes(capacity: i32): i32 {
  return <i32>bucketsAt + capacity * (4 + headCount * 8)
}
