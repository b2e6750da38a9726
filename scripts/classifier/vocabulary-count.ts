/** Counts the words of the training texts, to choose the vocabulary of a model and its order of frequency. */
import { hashWord } from '../../src/adapters/classifiers/embedded/hashing.ts'
import { visitTokens } from '../../src/adapters/classifiers/embedded/tokens.ts'
import { normalise } from '../../src/domain/scan/normalise/normalise.ts'

const fewest = 4
const most = 16_000
const plainWord = /^[a-z][a-z']*$/

/** Hashes of the words in the vocabulary, the most common first. */
export function countVocabulary(texts: Iterable<string>, always: readonly string[]): Uint32Array {
  const counts = new Map<string, number>()
  const word = (token: string): void => {
    if (plainWord.test(token) && !/(.)\1\1/.test(token)) counts.set(token, (counts.get(token) ?? 0) + 1)
  }
  for (const text of texts) visitTokens(normalise(text), { word, spacedLetters: () => undefined })
  const common = [...counts]
    .filter(([, count]) => count >= fewest)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  const known = new Set([...common.slice(0, most).map(([token]) => token), ...always.toSorted()])
  return Uint32Array.from(new Set([...known].map(hashWord)))
}
