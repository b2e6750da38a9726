import { encodedTexts } from '../moderation/encoded-text.ts'
import { normalise } from '../moderation/normalise.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { slicesOf } from '../moderation/slices.ts'
import { compileTerms } from '../moderation/terms.ts'

/** A text as those who look for phrases in it need it: its own words, and what is wrapped in it, in their normal form. */
export type NormalisedTextCache = (text: string) => readonly NormalisedText[]

export type NormalisedText = { readonly text: string; readonly folded: string }

/** All rules of an organization are asked about a text in one go, so the last one is worth keeping. */
export function createNormalisedTextCache(): NormalisedTextCache {
  let last = ''
  let readings: readonly NormalisedText[] = []
  return (text) => {
    if (text === last) return readings
    last = text
    readings = [text, ...slicesOf(text).flatMap((slice) => encodedTexts(slice.text).map((hidden) => hidden.text))].map(
      (part) => ({ text: part, folded: normalise(part) }),
    )
    return readings
  }
}

export type Phrases = {
  /** In characters of the normal form. */
  readonly longest: number
  isIn(readings: readonly NormalisedText[]): boolean
}

/** Phrases are found as terms of a deny list are: in any case and spelling, on word boundaries, also inside base64. */
export function compilePhrases(phrases: readonly string[], patterns: PatternEngine): Phrases {
  // A space before it keeps a phrase between slashes from being read as a pattern.
  const terms = compileTerms(
    phrases.map((phrase) => ` ${phrase}`),
    patterns,
  )
  const words = phrases.map(rarestWord)
  return {
    longest: Math.max(0, ...phrases.map((phrase) => normalise(phrase).length)),
    isIn: (readings) =>
      readings.some(({ text, folded }) => words.some((word) => folded.includes(word)) && terms.find(text).length > 0),
  }
}

/**
 * A word that stands in every text which holds the phrase: a native search for it rules out most texts. None for a
 * phrase with other letters, which also has a Latin spelling.
 */
function rarestWord(phrase: string): string {
  const folded = normalise(phrase)
  if (/[^\x20-\x7e]/.test(folded)) return ''
  return folded.split(' ').reduce((longest, word) => (word.length > longest.length ? word : longest))
}
