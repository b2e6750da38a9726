import type { Span } from './normalise.ts'
import { createWordEnd } from './word-end.ts'
import { createLookBehind } from './look-behind.ts'

/** A scan is due at every multiple of this. */
export const windowStep = 128
/** Counted characters that one scan covers. */
const windowCharacters = 512

/** The windows of a streamed text that are scanned. They depend on the text alone. */
export type Windows = {
  /** Start of the last `count` counted characters before `end`, moved to a word boundary. */
  startOf(text: string, end: number, count?: number): number
  /** The window that ends at `end`. */
  to(text: string, end: number): Span
  /** The windows of all scans that are due in a range. */
  dueIn(text: string, range: Span): readonly Span[]
}

export function createWindows(): Windows {
  const lookBehind = createLookBehind()
  const wordEnd = createWordEnd()
  const startOf: Windows['startOf'] = (text, end, count = windowCharacters) =>
    wordEnd(text, lookBehind(text, end, count))
  const to = (text: string, end: number): Span => ({ start: startOf(text, end), end })
  return {
    startOf,
    to,
    dueIn(text, { start, end }) {
      const due: Span[] = []
      const first = start - (start % windowStep) + windowStep
      for (let at = first; at <= Math.min(end, text.length); at += windowStep) due.push(to(text, wordEnd(text, at)))
      return due
    },
  }
}
