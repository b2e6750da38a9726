/**
 * Searches a streamed text for many terms, literals and patterns. Each character is read once. Both results depend on the
 * text alone, never on how it was cut into chunks. Encoded text is not decoded.
 */
export type StreamMatcher = {
  /** Appends text. */
  push(text: string): void
  /**
   * How many terms, literals and patterns match, whatever follows. It never falls. A match that exists only if the text ends
   * here is not counted. It may count a match that the evaluation does not find, but it never misses one.
   */
  matched(): number
  /**
   * Text before this position is part of no pending match, whatever follows. A matcher whose search becomes too expensive gives
   * up: this position then no longer moves, and every character it does not read counts as a match, because it may be one.
   */
  settledTo(): number
}

/** A text with a longer pending match counts as held back as a whole. */
export const maxPendingCharacters = 512

/** One matcher of several. */
export function joinMatchers(matchers: readonly StreamMatcher[]): StreamMatcher {
  const [only] = matchers
  if (matchers.length === 1 && only !== undefined) return only
  let length = 0
  return {
    push(text) {
      length += text.length
      for (const matcher of matchers) matcher.push(text)
    },
    matched: () => matchers.reduce((sum, matcher) => sum + matcher.matched(), 0),
    settledTo: () => matchers.reduce((least, matcher) => Math.min(least, matcher.settledTo()), length),
  }
}
