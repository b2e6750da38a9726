/** A window is scored as a whole: up to three sentences in a row, so that one sentence in a long text is found. */

export const mostSentences = 3
/** A single sentence is never too long, because long ones are cut. */
const mostWords = 60

/** The number of sentences of the longest window, by their numbers of words from the last sentence back. 0: there is none. */
export function windowLength(words: ArrayLike<number>): number {
  let sum = 0
  let length = 0
  while (length < mostSentences) {
    const next = words[length] ?? 0
    sum += next
    if (next === 0 || sum > mostWords) break
    length += 1
  }
  return length
}

/** The factor of each word feature. It keeps a long window from scoring high by its length; short ones count as eight words. */
export const featureScale = (words: number): number => 1 / Math.sqrt(Math.max(8, words))
/** The factor of the class features. */
export const classScale = 0.5
