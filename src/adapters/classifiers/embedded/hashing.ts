/**
 * Features are told apart by 32-bit hashes alone. The trainer and the classifier share this file:
 * a change here makes every trained model worthless, so it carries a version.
 */
export const hashVersion = 1

const prime = 0x01000193

function mix(hash: number): number {
  let mixed = hash
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** A whole word. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), prime)
  return mix(hash)
}

/** Writes the hash of every beginning of a word, as if it were a word: the first letter, the first two, and so on. */
export function hashBeginnings(word: string, into: Uint32Array): void {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) {
    hash = Math.imul(hash ^ word.charCodeAt(at), prime)
    into[at] = mix(hash)
  }
}

/**
 * A word with all that came before it in a pair or a phrase. Order counts. Signed, since this is asked for every word: a
 * number that may be larger than that would be put on the heap.
 */
export const hashNext = (before: number, word: number): number => mix(Math.imul(before, 31) ^ word) | 0

const shortestGram = 3
const longestGram = 5
const before = '<'.charCodeAt(0)
const after = '>'.charCodeAt(0)

/** Room for the character runs of the longest word there is. */
export const mostGrams = 128

/** Writes the runs of three to five characters in a word with its borders, `<word>`; answers how many there are. */
export function hashGrams(word: string, into: Uint32Array): number {
  const length = word.length + 2
  let count = 0
  for (let start = 0; start + shortestGram <= length; start++) {
    let hash = 0x2f0b4c47
    const end = Math.min(length, start + longestGram)
    for (let at = start; at < end; at++) {
      const code = at === 0 ? before : at === length - 1 ? after : word.charCodeAt(at - 1)
      hash = Math.imul(hash ^ code, prime)
      if (at - start + 1 >= shortestGram && count < into.length) into[count++] = mix(hash ^ (at - start))
    }
  }
  return count
}
