import { encodedTexts } from '../moderation/encoded-text.ts'
import { normalise } from '../moderation/normalise.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { slicesOf } from '../moderation/slices.ts'
import { compileTerms } from '../moderation/terms.ts'

/** Returns the text and every text encoded in it, each in its normal form. */
export type NormalisedTextCache = (text: string) => readonly NormalisedText[]

export type NormalisedText = { readonly text: string; readonly folded: string }

/** Caches the last text only, because all rules of an organization are evaluated on one text in a row. */
export function createNormalisedTextCache(): NormalisedTextCache {
  let lastText = ''
  let texts: readonly NormalisedText[] = []
  return (text) => {
    if (text === lastText) return texts
    lastText = text
    texts = [text, ...slicesOf(text).flatMap((slice) => encodedTexts(slice.text).map((encoded) => encoded.text))].map(
      (part) => ({ text: part, folded: normalise(part) }),
    )
    return texts
  }
}

export type Phrases = {
  /** Length of the longest phrase, in characters of the normal form. */
  readonly longest: number
  isIn(texts: readonly NormalisedText[]): boolean
}

/** Phrases match as the terms of a deny list do: in any case, with homoglyphs, on word boundaries, also inside base64. */
export function compilePhrases(phrases: readonly string[], patterns: PatternEngine): Phrases {
  // The leading space prevents a phrase between slashes from being parsed as a pattern.
  const terms = compileTerms(
    phrases.map((phrase) => ` ${phrase}`),
    patterns,
  )
  const words = phrases.map(longestWord)
  return {
    longest: Math.max(0, ...phrases.map((phrase) => normalise(phrase).length)),
    isIn: (texts) =>
      texts.some(({ text, folded }) => words.some((word) => folded.includes(word)) && terms.find(text).length > 0),
  }
}

/**
 * The longest word of the phrase. A native search for it rules out most texts before the terms are matched. Empty for a
 * phrase with characters outside ASCII, because such a phrase also matches in its Latin transcription.
 */
function longestWord(phrase: string): string {
  const folded = normalise(phrase)
  if (/[^\x20-\x7e]/.test(folded)) return ''
  return folded.split(' ').reduce((longest, word) => (word.length > longest.length ? word : longest))
}
