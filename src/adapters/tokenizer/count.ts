import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { cutRuns } from './runs.ts'

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
