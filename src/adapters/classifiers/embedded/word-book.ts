/**
 * Remembers the facts of tokens met lately. It is asked for every word of every text, so it looks a token up where it
 * stands, without cutting it out first. Two generations: when the young one is full it becomes the old one, and what is
 * asked for again moves back. So it is bounded, whatever is sent.
 */
export type WordBook<Facts> = {
  (text: string, start: number, end: number): Facts
  /** Grows when something is forgotten. */
  age(): number
}

/** Tokens made to collide must not make it slow: one that finds no place near its own is not remembered. */
const mostProbes = 16

export function createWordBook<Facts>(learn: (token: string) => Facts, generation = 12_000): WordBook<Facts> {
  let young = createPage<Facts>(generation)
  let old = createPage<Facts>(generation)
  let age = 0

  const book = (text: string, start: number, end: number): Facts => {
    const known = young.recall(text, start, end)
    if (known !== undefined) return known
    const token = text.slice(start, end)
    const facts = old.recall(text, start, end) ?? learn(token)
    if (young.isFull()) {
      old.clear()
      ;[old, young] = [young, old]
      age += 1
    }
    young.remember(token, facts)
    return facts
  }
  return Object.assign(book, { age: () => age })
}

type Page<Facts> = {
  recall(text: string, start: number, end: number): Facts | undefined
  remember(token: string, facts: Facts): void
  isFull(): boolean
  clear(): void
}

function createPage<Facts>(most: number): Page<Facts> {
  const slots = 2 ** Math.ceil(Math.log2(most * 2))
  const tokens: (string | undefined)[] = Array.from({ length: slots })
  const facts: (Facts | undefined)[] = Array.from({ length: slots })
  let size = 0

  /** The slot of the token that stands in the text, or the free one where it belongs, or -1. */
  const slotOf = (text: string, start: number, end: number): number => {
    const first = hashPart(text, start, end)
    for (let probe = 0; probe < mostProbes; probe++) {
      const slot = (first + probe) & (slots - 1)
      const token = tokens[slot]
      if (token === undefined || (token.length === end - start && standsAt(token, text, start))) return slot
    }
    return -1
  }
  return {
    recall(text, start, end) {
      const slot = slotOf(text, start, end)
      return slot < 0 ? undefined : facts[slot]
    },
    remember(token, known) {
      const slot = slotOf(token, 0, token.length)
      if (slot < 0) return
      tokens[slot] = token
      facts[slot] = known
      size += 1
    },
    isFull: () => size >= most,
    clear() {
      tokens.fill(undefined)
      facts.fill(undefined)
      size = 0
    },
  }
}

function hashPart(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}

function standsAt(token: string, text: string, start: number): boolean {
  for (let at = 0; at < token.length; at++) if (token.charCodeAt(at) !== text.charCodeAt(start + at)) return false
  return true
}
