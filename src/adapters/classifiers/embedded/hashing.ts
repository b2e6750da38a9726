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

/** A word with all that came before it in a pair or a phrase. Order counts. */
export const hashNext = (before: number, word: number): number => mix(Math.imul(before, 31) ^ word)

const shortestGram = 3
const longestGram = 5

/** The runs of three to five characters in a word with its borders, `<word>`. */
export function hashGrams(word: string): Uint32Array {
  const bordered = `<${word}>`
  const grams: number[] = []
  for (let start = 0; start + shortestGram <= bordered.length; start++) {
    let hash = 0x2f0b4c47
    const end = Math.min(bordered.length, start + longestGram)
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ bordered.charCodeAt(at), prime)
      if (at - start + 1 >= shortestGram) grams.push(mix(hash ^ (at - start)))
    }
  }
  return Uint32Array.from(grams)
}
