const wordsByPattern = new Map<string, string>()

/** The pattern of a field, with the words for a value that does not match: people do not read regular expressions. */
export function patternOf(pattern: string, words: string): string {
  wordsByPattern.set(pattern, words)
  return pattern
}

export const patternInWords = (pattern: string): string =>
  wordsByPattern.get(pattern) ?? 'has characters that are not allowed, or the wrong length'

/** A secret or an id as other systems issue them. */
export const visibleAscii = (maxLength: number): string =>
  patternOf(
    `^[\\x21-\\x7e]{1,${maxLength}}$`,
    `must have at most ${maxLength.toLocaleString('en')} ASCII characters and no spaces`,
  )
