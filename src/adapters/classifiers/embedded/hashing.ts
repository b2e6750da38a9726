/**
 * Features are identified by 32-bit hashes alone. The trainer uses this file, and the kernel computes the same hashes. It has a
 * version, because a change here invalidates every trained model.
 */
export const hashVersion = 1

const prime = 0x01000193

function mix(hash: number): number {
  let mixed = hash
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Hash of a whole word. */
export function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), prime)
  return mix(hash)
}

/** Writes the hash of every prefix of a word: the first letter, the first two, and so on. */
export function hashBeginnings(word: string, into: Uint32Array): void {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) {
    hash = Math.imul(hash ^ word.charCodeAt(at), prime)
    into[at] = mix(hash)
  }
}

/**
 * Hash of a word together with the words before it in a pair or phrase. Order counts. The hash is signed, because a larger number
 * would be allocated on the heap for every word.
 */
export const hashNext = (before: number, word: number): number => mix(Math.imul(before, 31) ^ word) | 0

const shortestGram = 3
const longestGram = 5
const before = '<'.charCodeAt(0)
const after = '>'.charCodeAt(0)

/** Maximum number of character n-grams of the longest word. */
export const maxGrams = 128

/** Writes the hashes of the n-grams of three to five characters of `<word>`, borders included. Returns their number. */
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
