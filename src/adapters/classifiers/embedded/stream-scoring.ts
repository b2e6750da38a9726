/**
 * Scores ranges of a streamed text. The words of the text are kept, so that a range is counted again without being tokenized
 * again. A range gets the score it would get as a text of its own.
 */
import { foldsInPlace, normalise, type Span } from '../../../domain/moderation/normalise.ts'
import { wholeCharacter } from '../../../domain/moderation/slices.ts'
import type { ReadWords } from './reader.ts'

/** Visits the words of a range. Returns false if they are no longer kept; the range must then be tokenized separately. */
export type StreamScoring<Known> = (text: string, range: Span, visit: (word: Known) => void) => boolean

export type StreamScoringParts<Known> = {
  readonly readWords: ReadWords<Known>
  /** Changes when words may have been evicted from the cache: their facts would then be new objects. */
  readonly age: () => number
}

/** How many characters after a token can influence where it ends. The worst case is single letters in a row. */
const lookAheadCharacters = 5

/** Maximum number of words kept; the older half is evicted at once. Only the end of a long text is scored again. */
const maxTokens = 2_048

export function createStreamScoring<Known>({ readWords, age }: StreamScoringParts<Known>): StreamScoring<Known> {
  let tokens: (Span & { readonly word: Known })[] = []
  let readFrom = 0
  let readTo = 0
  let readAt = age()

  function restart(at: number): void {
    tokens = []
    readFrom = at
    readTo = at
    readAt = age()
  }

  function evictOldest(): void {
    const [last, ...kept] = tokens.slice(maxTokens / 2 - 1)
    readFrom = last?.end ?? readFrom
    tokens = kept
  }

  /** Reads up to `end` and keeps the tokens that more text cannot change. */
  function readFurther(text: string, end: number): void {
    const offset = readTo
    const part = text.slice(offset, end)
    if (!foldsInPlace(part)) return restart(end)
    const settled = end - lookAheadCharacters
    readTo = Math.max(offset, wholeCharacter(text, settled))
    readWords(normalise(part), (word, from, to) => {
      if (offset + to > settled) readTo = Math.min(readTo, offset + from)
      else tokens.push({ word, start: offset + from, end: offset + to })
    })
    if (tokens.length > maxTokens) evictOldest()
  }

  return (text, { start, end }, visit) => {
    if (age() !== readAt) restart(start)
    if (end > readTo) readFurther(text, end)
    if (start < readFrom) return false
    let at = firstFrom(tokens, start)
    let restFrom = Math.max(start, tokens[at - 1]?.end ?? 0)
    if (restFrom > start) return false // the range starts inside a token; cut there, it would be another token
    for (let token = tokens[at]; token !== undefined && token.end <= end - lookAheadCharacters; token = tokens[++at]) {
      visit(token.word)
      restFrom = token.end
    }
    const rest = text.slice(restFrom, end)
    if (!foldsInPlace(rest)) return false
    readWords(normalise(rest), visit)
    return true
  }
}

/** The first kept word that begins at `start` or later. Ranges are usually near the end. */
function firstFrom(spans: readonly Span[], start: number): number {
  let at = spans.length
  while (at > 0 && (spans[at - 1]?.start ?? 0) >= start) at -= 1
  return at
}
