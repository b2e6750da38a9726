/**
 * Reads a text in normal form, for the classifier and for the trainer. Both see the same words, pairs and lists in the same
 * buckets.
 */
import { createToLetters } from './letters.ts'
import type { Lexicon } from './lexicon.ts'
import { visitTokens } from './tokens.ts'
import { segment } from './unmask.ts'
import type { Vocabulary } from './unmask.ts'
import { createWalk, type WalkListener, type Word } from './walk.ts'
import type { WordCache } from './word-cache.ts'

export type WordReaderParts<Known> = {
  readonly vocabulary: Vocabulary
  /** Caches the facts of tokens. */
  readonly wordCache: WordCache<Known>
}

/** Called for each word with the position of its token. Letters written one by one may give several words. */
export type WordVisitor<Known> = (word: Known, start: number, end: number) => void

/** Converts a text in normal form into known words. */
export type ReadWords<Known> = (text: string, visit: WordVisitor<Known>) => void

export function createWordReader<Known>({ vocabulary, wordCache }: WordReaderParts<Known>): ReadWords<Known> {
  const toLetters = createToLetters()
  return (text, visit) =>
    visitTokens(text, {
      word: (letters, start, end) => visit(wordCache(letters, start, end), start, end),
      spacedLetters(letters, start, end) {
        for (const word of segment(letters, vocabulary)) visit(wordCache(toLetters(word), 0, word.length), start, end)
      },
    })
}

export type ReaderParts<Known extends Word> = WordReaderParts<Known> & {
  readonly lexicon: Lexicon
  readonly listener: WalkListener<Known>
}

export function createReader<Known extends Word>(parts: ReaderParts<Known>): (text: string) => void {
  const readWords = createWordReader(parts)
  const walk = createWalk(parts.lexicon, parts.listener)
  return (text) => {
    walk.begin()
    readWords(text, walk.visit)
  }
}
