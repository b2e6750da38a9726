/**
 * Reads one growing text, and finds something in it: terms, literals, patterns, encoded text or personal data. All results depend
 * on the text alone, never on how it was cut into chunks.
 */
export type Detector = {
  /** Reads further text, each character once. `text` is all text so far, including `more`, for what must look back. */
  push(more: string, text: string): void
  /**
   * How many matches there are, whatever follows. It never falls. A match that exists only if the text ends here is not counted. It
   * may count a match that the evaluation does not find, but it never misses one.
   */
  matched(): number
  /**
   * Text before this position is part of no pending match, whatever follows. A detector whose search becomes too expensive gives
   * up: this position then no longer moves, and every character it does not read counts as a match, because it may be one.
   */
  settledTo(): number
}

/** A detector that searches for a list of words or patterns without looking back. Encoded text is not decoded. */
export type SearchDetector = Omit<Detector, 'push'> & {
  push(more: string): void
  /** The words or patterns that the text contains if it ends here, by index; undefined if the search gave up. Call once. */
  end(): ReadonlySet<number> | undefined
}

/** A text with a longer pending match counts as held back as a whole. */
export const maxPendingCharacters = 512

/** One detector of several. With loops, because every chunk passes here. */
export function joinDetectors(detectors: readonly Detector[]): Detector {
  const [only] = detectors
  if (detectors.length === 1 && only !== undefined) return only
  let length = 0
  return {
    push(more, text) {
      length += more.length
      for (const detector of detectors) detector.push(more, text)
    },
    matched() {
      let sum = 0
      for (const detector of detectors) sum += detector.matched()
      return sum
    },
    settledTo() {
      let least = length
      for (const detector of detectors) least = Math.min(least, detector.settledTo())
      return least
    },
  }
}
