import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'

// The library's cache evicts in time linear to its size: at its default of 100,000 entries, random text is eight times slower.
setMergeCacheSize(1_000)

/** Counts the tokens of texts in the o200k vocabulary. */
export function countAll(texts: readonly string[]): number {
  let tokenCount = 0
  for (const text of texts) {
    for (const part of cutRuns(text)) tokenCount += countTokens(part, { allowedSpecial: 'all' })
  }
  return tokenCount
}

/** Longest run of one character kind passed to the tokenizer, which takes quadratic time for a run. */
const maxRun = 256

const kinds = { letter: 0, space: 1, symbol: 2 } as const

/**
 * Splits long runs of letters, white space or symbols, because fifty thousand letters in a row would block the thread for
 * seconds. Texts without such runs stay whole, and their count is exact.
 */
function cutRuns(text: string): readonly string[] {
  const parts: string[] = []
  let partStart = 0
  let runStart = 0
  let kind = -1
  for (let at = 0; at < text.length; at++) {
    const here = kindOf(text.charCodeAt(at))
    if (here !== kind) {
      kind = here
      runStart = at
    } else if (at - runStart >= maxRun) {
      parts.push(text.slice(partStart, at))
      partStart = at
      runStart = at
    }
  }
  parts.push(text.slice(partStart))
  return parts
}

function kindOf(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13) || code === 0xa0) return kinds.space
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 127
  return isLetter ? kinds.letter : kinds.symbol
}
