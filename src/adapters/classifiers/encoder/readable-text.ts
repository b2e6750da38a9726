/**
 * The text that the encoder reads. Its word pieces are those of plain text, so homoglyphs, leetspeak, stretched words and letters
 * written one by one are replaced by the words behind them. Symbols that its vocabulary lacks, such as emoji, separate words: left
 * in a word they would make it unknown. Everything else keeps its place, punctuation and numbers too.
 */
import { normalise } from '../../../domain/scan/normalise/normalise.ts'
import { visitTokens } from '../embedded/tokens.ts'
import { segment, unmask, type Vocabulary } from '../embedded/unmask.ts'

const letters = /^\p{L}/u
/** Beyond ASCII, symbols and characters that show nothing. */
const symbols = /[\p{S}\p{C}](?<![\x20-\x7e])/gu
/** Long runs of punctuation would fill the encoder's windows. */
const punctuation = /(?:[^\p{L}\p{N}\s]\s*){4,}/gu
const keptPunctuation = 8

export function readableText(text: string, vocabulary: Vocabulary): string {
  const normal = normalise(text)
  let readable = ''
  let copiedTo = 0
  const replace = (words: string, start: number, end: number): void => {
    readable += normal.slice(copiedTo, start) + words
    copiedTo = end
  }
  visitTokens(normal, {
    word(token, start, end) {
      const word = unmask(token, vocabulary)
      if (word !== token && letters.test(word) && vocabulary.rank(word) >= 0) replace(word, start, end)
    },
    spacedLetters: (spaced, start, end) => replace(segment(spaced, vocabulary).join(' '), start, end),
  })
  return (readable + normal.slice(copiedTo))
    .replaceAll(symbols, ' ')
    .replaceAll(punctuation, (run) => (run.length > keptPunctuation ? `${run.slice(0, keptPunctuation)} ` : run))
}
