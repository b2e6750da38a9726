import type { Span } from '../../moderation/normalise.ts'
import { createWordEnd } from '../../moderation/word-end.ts'
import { createLookBehind } from './look-behind.ts'

/** A check is made at every multiple of this. */
export const stepCharacters = 128
/** What a check looks at: so much of what came before. */
const windowCharacters = 512

/** What checks look at in one text, which may grow. It depends on the text alone. */
export type Windows = {
  /** Where so many characters before a place begin, on the border of a word. */
  startOf(text: string, end: number, count?: number): number
  /** One that ends at a place. */
  to(text: string, end: number): Span
  /** Those of all checks that are made in a stretch. */
  dueIn(text: string, stretch: Span): readonly Span[]
}

export function createWindows(): Windows {
  const countBack = createLookBehind()
  const wordEnd = createWordEnd()
  const startOf: Windows['startOf'] = (text, end, count = windowCharacters) =>
    wordEnd(text, countBack(text, end, count))
  const to = (text: string, end: number): Span => ({ start: startOf(text, end), end })
  return {
    startOf,
    to,
    dueIn(text, { start, end }) {
      const due: Span[] = []
      const first = start - (start % stepCharacters) + stepCharacters
      for (let at = first; at <= Math.min(end, text.length); at += stepCharacters) due.push(to(text, wordEnd(text, at)))
      return due
    },
  }
}
