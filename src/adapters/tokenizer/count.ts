import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { cutRuns } from './runs.ts'

/** Beyond this a count is not worth its time: the rest is taken by length. */
const mostCounted = 2_000_000
const bytesPerToken = 3.5

/** The tokens of all these texts, of which together so many characters are counted. */
export function countAll(texts: readonly string[], maxCharacters = mostCounted): number {
  let charactersLeft = maxCharacters
  let tokenCount = 0
  let restBytes = 0
  for (const text of texts) {
    const counted = text.slice(0, charactersLeft)
    charactersLeft -= counted.length
    restBytes += Buffer.byteLength(text.slice(counted.length))
    for (const piece of cutRuns(counted)) tokenCount += countTokens(piece, { allowedSpecial: 'all' })
  }
  return tokenCount + Math.ceil(restBytes / bytesPerToken)
}
