/**
 * Remembers the facts of tokens met lately. It is asked for every word of every text, so it looks a token up where it
 * stands, without cutting it out first. Two generations: when the young one is full it becomes the old one, and what is
 * asked for again moves back. So it is bounded, whatever is sent.
 */
import type { Letters } from './letters.ts'
import { longestWordToken } from './tokens.ts'

export type WordCache<Facts> = {
  (letters: Letters, start: number, end: number): Facts
  /** Grows when something is forgotten. */
  age(): number
}

/** Tokens made to collide must not make it slow: one that finds no place near its own is not remembered. */
const mostProbes = 16

export function createWordCache<Facts>(learn: (token: string) => Facts, generation = 12_000): WordCache<Facts> {
  let young = createPage<Facts>(generation)
  let old = createPage<Facts>(generation)
  let age = 0

  const book = (letters: Letters, start: number, end: number): Facts => {
    const { codes } = letters
    const known = young.recall(codes, start, end)
    if (known !== undefined) return known
    const facts = old.recall(codes, start, end) ?? learn(letters.text.slice(start, end))
    if (young.isFull()) {
      old.clear()
      ;[old, young] = [young, old]
      age += 1
    }
    young.remember(facts, letters.codes.subarray(start, end))
    return facts
  }
  return Object.assign(book, { age: () => age })
}

type Page<Facts> = {
  recall(codes: Uint16Array, start: number, end: number): Facts | undefined
  remember(facts: Facts, token: Uint16Array): void
  isFull(): boolean
  clear(): void
}

function createPage<Facts>(most: number): Page<Facts> {
  const slots = 2 ** Math.ceil(Math.log2(most * 2))
  /** Which of the tokens stands in a slot, counted from 1. */
  const tokens = new Int32Array(slots)
  const lengths = new Uint8Array(most)
  const spellings = new Uint16Array(most * longestWordToken)
  const facts: Facts[] = []

  /** The slot of the token that stands in the text, or the free one where it belongs, or -1. */
  const slotOf = (codes: Uint16Array, start: number, end: number): number => {
    const first = hashPart(codes, start, end)
    for (let probe = 0; probe < mostProbes; probe++) {
      const slot = (first + probe) & (slots - 1)
      const token = (tokens[slot] ?? 0) - 1
      if (token < 0 || (lengths[token] === end - start && standsAt(codes, start, token))) return slot
    }
    return -1
  }
  const standsAt = (codes: Uint16Array, start: number, token: number): boolean => {
    const spelled = token * longestWordToken
    for (let at = (lengths[token] ?? 0) - 1; at >= 0; at--) {
      if (spellings[spelled + at] !== codes[start + at]) return false
    }
    return true
  }
  return {
    recall(codes, start, end) {
      const slot = slotOf(codes, start, end)
      const token = slot < 0 ? 0 : (tokens[slot] ?? 0)
      return token === 0 ? undefined : facts[token - 1]
    },
    remember(known, token) {
      const slot = token.length > longestWordToken ? -1 : slotOf(token, 0, token.length)
      if (slot < 0) return
      lengths[facts.length] = token.length
      spellings.set(token, facts.length * longestWordToken)
      tokens[slot] = facts.push(known)
    },
    isFull: () => facts.length >= most,
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
