/** Reads a text in normal form for the trainer. The classifier's kernel sees the same words, pairs and lists in the same buckets. */
import { segment, type Vocabulary } from '../../../src/adapters/classifiers/embedded/unmask.ts'
import type { Lexicon } from './lexicon.ts'
import { visitTokens } from '../../../src/adapters/classifiers/embedded/tokens.ts'
import { createWalk, type WalkListener, type Word } from './walk.ts'

export type WordReaderParts<Known> = {
  readonly vocabulary: Vocabulary
  readonly factsOf: (token: string) => Known
}

/** Converts a text in normal form into words. Letters written one by one may give several words. */
export type ReadWords<Known> = (text: string, visit: (word: Known) => void) => void

export function createWordReader<Known>({ vocabulary, factsOf }: WordReaderParts<Known>): ReadWords<Known> {
  /** A token must have the same facts object each time, because a bucket counts it once. */
  const known = new Map<string, Known>()
  const lookup = (token: string): Known => {
    const facts = known.get(token) ?? factsOf(token)
    known.set(token, facts)
    return facts
  }
  return (text, visit) =>
    visitTokens(text, {
      word: (token) => visit(lookup(token)),
      spacedLetters(letters) {
        for (const word of segment(letters, vocabulary)) visit(lookup(word))
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
