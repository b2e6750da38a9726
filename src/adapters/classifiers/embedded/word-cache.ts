/**
 * Caches the facts of recently seen tokens. It is read for every word of every text, so a lookup compares character codes and
 * creates no substring. Two generations bound its size: when the young one is full it becomes the old one, and a hit in the old one
 * copies the entry to the young one.
 */
import type { Letters } from './letters.ts'
import { longestWordToken } from './tokens.ts'

export type WordCache<Facts> = {
  (letters: Letters, start: number, end: number): Facts
  /** Incremented when entries are evicted. */
  age(): number
}

/** Bounds probing, so that crafted collisions cannot slow it down. A token without a free slot nearby is not cached. */
const maxProbes = 16

export function createWordCache<Facts>(computeFacts: (token: string) => Facts, maxEntries = 12_000): WordCache<Facts> {
  let young = createGeneration<Facts>(maxEntries)
  let old = createGeneration<Facts>(maxEntries)
  let age = 0

  const lookup = (letters: Letters, start: number, end: number): Facts => {
    const { codes } = letters
    const cached = young.get(codes, start, end)
    if (cached !== undefined) return cached
    const facts = old.get(codes, start, end) ?? computeFacts(letters.text.slice(start, end))
    if (young.isFull()) {
      old.clear()
      ;[old, young] = [young, old]
      age += 1
    }
    young.set(facts, letters.codes.subarray(start, end))
    return facts
  }
  return Object.assign(lookup, { age: () => age })
}

type Generation<Facts> = {
  get(codes: Uint16Array, start: number, end: number): Facts | undefined
  set(facts: Facts, token: Uint16Array): void
  isFull(): boolean
  clear(): void
}

function createGeneration<Facts>(maxEntries: number): Generation<Facts> {
  const slots = 2 ** Math.ceil(Math.log2(maxEntries * 2))
  /** The number of the token in a slot, counted from 1. */
  const tokens = new Int32Array(slots)
  const lengths = new Uint8Array(maxEntries)
  const tokenCodes = new Uint16Array(maxEntries * longestWordToken)
  const facts: Facts[] = []

  /** The slot of the token in the text, or the free slot for it, or -1. */
  const slotOf = (codes: Uint16Array, start: number, end: number): number => {
    const first = hashPart(codes, start, end)
    for (let probe = 0; probe < maxProbes; probe++) {
      const slot = (first + probe) & (slots - 1)
      const token = (tokens[slot] ?? 0) - 1
      if (token < 0 || (lengths[token] === end - start && isTokenAt(codes, start, token))) return slot
    }
    return -1
  }
  const isTokenAt = (codes: Uint16Array, start: number, token: number): boolean => {
    const offset = token * longestWordToken
    for (let at = (lengths[token] ?? 0) - 1; at >= 0; at--) {
      if (tokenCodes[offset + at] !== codes[start + at]) return false
    }
    return true
  }
  return {
    get(codes, start, end) {
      const slot = slotOf(codes, start, end)
      const token = slot < 0 ? 0 : (tokens[slot] ?? 0)
      return token === 0 ? undefined : facts[token - 1]
    },
    set(value, token) {
      const slot = token.length > longestWordToken ? -1 : slotOf(token, 0, token.length)
      if (slot < 0) return
      lengths[facts.length] = token.length
      tokenCodes.set(token, facts.length * longestWordToken)
      tokens[slot] = facts.push(value)
    },
    isFull: () => facts.length >= maxEntries,
    clear() {
      tokens.fill(0)
      facts.length = 0
    },
  }
}

function hashPart(codes: Uint16Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (codes[at] ?? 0), 0x01000193)
  return hash ^ (hash >>> 15)
}
