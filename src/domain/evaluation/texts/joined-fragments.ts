import { createWordEnd } from '../../scan/normalise/word-end.ts'

/** Parts up to this length are joined whole, longer ones only with their two ends. */
const maxPartLength = 512
const edgeLength = maxPartLength / 2
const maxChainLength = 2_048

/**
 * Joins neighbouring parts of a message. A model reads them as one text, and a sentence split into one word per part looks
 * harmless in each. Parts are joined with a line break and, if a word may be split between two parts, also without.
 */
export function joinedFragments(parts: readonly string[]): readonly string[] {
  if (parts.length < 2) return none
  const chains = chainsOf(parts.filter((part) => /\S/.test(part)))
  return chains.flatMap((chain) => (maySplitWord(chain) ? [chain.join('\n'), chain.join('')] : [chain.join('\n')]))
}

const none: readonly never[] = []

/** A long part ends one chain with its start and begins the next with its end, as does a part that makes the chain too long. */
function chainsOf(parts: readonly string[]): readonly (readonly string[])[] {
  const chains: string[][] = [[]]
  let length = 0
  for (const part of parts) {
    const isLong = part.length > maxPartLength
    chains.at(-1)?.push(isLong ? startOf(part) : part)
    length += part.length
    if (!isLong && length <= maxChainLength) continue
    chains.push([endOf(part)])
    length = 0
  }
  return chains.filter((chain) => chain.length > 1)
}

/** Cuts at a word boundary, because a cut inside a word would create a word that the text does not contain. */
const startOf = (part: string): string => part.slice(0, createWordEnd()(part, edgeLength))

function endOf(part: string): string {
  const near = part.slice(-maxPartLength)
  return near.slice(createWordEnd()(near, Math.max(0, near.length - edgeLength)))
}

const maySplitWord = (chain: readonly string[]): boolean =>
  chain.some((part, at) => /[\p{L}\p{N}]$/u.test(part) && /^[\p{L}\p{N}]/u.test(chain[at + 1] ?? ''))
