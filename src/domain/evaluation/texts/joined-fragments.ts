import { createWordEnd } from '../../moderation/word-end.ts'

/** Parts up to this long are read as a whole, longer ones at both of their ends. */
const longest = 512
const edge = longest / 2
const longestChain = 2_048

/**
 * Parts that stand side by side are one text to a model, and a sentence in parts of a word each is harmless in every one
 * of them. So what they say together is read too: as words of their own, and, where a word may be cut in two, as one.
 */
export function joinedFragments(parts: readonly string[]): readonly string[] {
  const chains = chainsOf(parts.filter((part) => /\S/.test(part)))
  return chains.flatMap((chain) => (isCut(chain) ? [chain.join('\n'), chain.join('')] : [chain.join('\n')]))
}

/** What is long ends one chain with its beginning, and begins the next with its end. So does what makes a chain long. */
function chainsOf(parts: readonly string[]): readonly (readonly string[])[] {
  const chains: string[][] = [[]]
  let length = 0
  for (const part of parts) {
    const isLong = part.length > longest
    chains.at(-1)?.push(isLong ? startOf(part) : part)
    length += part.length
    if (!isLong && length <= longestChain) continue
    chains.push([endOf(part)])
    length = 0
  }
  return chains.filter((chain) => chain.length > 1)
}

/** Cut inside a word, a seam would say a word that nobody said. */
const startOf = (part: string): string => part.slice(0, createWordEnd()(part, edge))

function endOf(part: string): string {
  const near = part.slice(-longest)
  return near.slice(createWordEnd()(near, Math.max(0, near.length - edge)))
}

const isCut = (chain: readonly string[]): boolean =>
  chain.some((part, at) => /[\p{L}\p{N}]$/u.test(part) && /^[\p{L}\p{N}]/u.test(chain[at + 1] ?? ''))
