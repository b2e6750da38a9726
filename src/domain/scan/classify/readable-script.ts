const letters = /\p{L}/gu
const otherLetters = /(?!\p{Script=Latin})\p{L}/gu
/** Few texts in the Latin script have one of these, so that their letters need not be counted. */
const beyondLatin = /[\u0370-\u1dff\u2d00-\ua71f\ua800-\uab2f\uab70-\uffff]/

/**
 * Whether the encoder can read a text: its vocabulary has words in the Latin script only, and single letters of some others. False
 * for a text without letters, and if less than a quarter of them are Latin.
 */
export function isReadableScript(text: string): boolean {
  if (!beyondLatin.test(text)) return /\p{L}/u.test(text)
  const all = countOf(text, letters)
  return all > 0 && countOf(text, otherLetters) <= all * 0.75
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0
  for (const _ of text.matchAll(pattern)) count++
  return count
}
