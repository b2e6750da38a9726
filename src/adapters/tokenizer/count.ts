import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { cutRuns } from './runs.ts'

// The library's cache evicts in time linear to its size: at its default of 100,000 entries, random text is eight times slower.
setMergeCacheSize(1_000)

/** The tokens of all these texts, in the o200k vocabulary. */
export function countAll(texts: readonly string[]): number {
  let tokenCount = 0
  for (const text of texts) {
    for (const piece of cutRuns(text)) tokenCount += countTokens(piece, { allowedSpecial: 'all' })
  }
  return tokenCount
}
