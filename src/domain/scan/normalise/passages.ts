/** A part of a text, from `start` to `end`. */
type Part = { readonly start: number; readonly end: number }

/** From a letter or number to the end of a sentence or line, or to a quote, brace or bracket of data, code or tags around it. */
const sentences =
  /[\p{L}\p{N}][^.!?\u2026\u3002\uff01\uff1f\u061f\u0964\n"{}<>]+[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]*/gu

/** Shorter sentences are names, list items and keys. In scripts without spaces a word is counted for two characters. */
const fewestWords = 3
const unspaced = /[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]/gu
const word = /\p{L}[\p{L}\p{M}\p{N}'’-]*/gu

/** Of a text with more sentences, several neighbours are one. */
const mostSentences = 128

/** The sentences of a text, and each pair of neighbours if `withPairs`; none for a text of one sentence. */
export function passagesOf(text: string, withPairs: boolean): readonly Part[] {
  const found = [...text.matchAll(sentences)].map(({ 0: { length }, index }) => ({ start: index, end: index + length }))
  const single = grouped(found)
  if (single.length < 2) return []
  const pairs = single.slice(1).map(({ end }, at) => ({ start: single[at]?.start ?? 0, end }))
  const all = withPairs && pairs.length > 1 ? [...single, ...pairs] : single
  return all.filter(({ start, end }) => hasWords(text.slice(start, end)))
}

function grouped(parts: readonly Part[]): readonly Part[] {
  const size = Math.ceil(parts.length / mostSentences)
  if (size <= 1) return parts
  return Array.from({ length: Math.ceil(parts.length / size) }, (_, at) => ({
    start: parts[at * size]?.start ?? 0,
    end: parts[Math.min(parts.length, (at + 1) * size) - 1]?.end ?? 0,
  }))
}

const hasWords = (passage: string): boolean =>
  (passage.match(word)?.length ?? 0) + (passage.match(unspaced)?.length ?? 0) / 2 >= fewestWords
