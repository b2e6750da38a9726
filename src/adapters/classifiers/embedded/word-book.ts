/**
 * Remembers the facts of tokens met lately. It is asked for every word of every text, so it looks a token up where it
 * stands, without cutting it out first. Two generations: when the young one is full it becomes the old one, and what is
 * asked for again moves back. So it is bounded, whatever is sent.
 */
export type WordBook<Facts> = (text: string, start: number, end: number) => Facts

type Page<Facts> = { readonly tokens: (string | undefined)[]; readonly facts: (Facts | undefined)[]; size: number }

/** Tokens made to collide must not make it slow: one that finds no place near its own is not remembered. */
const mostProbes = 16

export function createWordBook<Facts>(learn: (token: string) => Facts, generation = 12_000): WordBook<Facts> {
  const slots = 2 ** Math.ceil(Math.log2(generation * 2))
  const blank = (): Page<Facts> => ({
    tokens: Array.from({ length: slots }),
    facts: Array.from({ length: slots }),
    size: 0,
  })
  let young = blank()
  let old = blank()

  /** The slot of the token that stands in the text, or the free one where it belongs, or -1. */
  const slotOf = ({ tokens }: Page<Facts>, text: string, start: number, end: number): number => {
    const first = hashPart(text, start, end)
    for (let probe = 0; probe < mostProbes; probe++) {
      const slot = (first + probe) & (slots - 1)
      const token = tokens[slot]
      if (token === undefined || standsAt(token, text, start, end)) return slot
    }
    return -1
  }

  const turnPage = (): void => {
    const emptied = old
    old = young
    emptied.tokens.fill(undefined)
    emptied.facts.fill(undefined)
    emptied.size = 0
    young = emptied
  }

  const remember = (token: string, facts: Facts): void => {
    if (young.size >= generation) turnPage()
    const slot = slotOf(young, token, 0, token.length)
    if (slot < 0) return
    young.tokens[slot] = token
    young.facts[slot] = facts
    young.size += 1
  }

  return (text, start, end) => {
    const known = young.facts[slotOf(young, text, start, end)]
    if (known !== undefined) return known
    const token = text.slice(start, end)
    const facts = old.facts[slotOf(old, text, start, end)] ?? learn(token)
    remember(token, facts)
    return facts
  }
}

function hashPart(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}

function standsAt(token: string, text: string, start: number, end: number): boolean {
  if (token.length !== end - start) return false
  for (let at = 0; at < token.length; at++) if (token.charCodeAt(at) !== text.charCodeAt(start + at)) return false
  return true
}
