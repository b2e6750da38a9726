/** One pass over the words of a text that also visits pairs of neighbours, phrases and hits of the word lists. */
import { hashNext } from '../../../src/adapters/classifiers/embedded/hashing.ts'
import { longestPhrase } from './lexicon.ts'
import type { Lexicon } from './lexicon.ts'

/** The cached facts of a word. */
export type Word = {
  readonly hash: number
  /** The word lists that contain it, as a bit mask. */
  readonly lists: number
  readonly phraseLengths: number
  /** The last bucket that counted it. */
  countedIn: number
}

/** Called for everything the pass visits. Within a bucket each word and each pair of neighbours is visited once. */
export type WalkListener<Known extends Word> = {
  bucket(): void
  word(word: Known): void
  pair(hash: number): void
  /** A word or phrase of these lists; `recent` are the lists of the preceding words. */
  lists(lists: number, recent: number): void
}

export type WordWalk<Known extends Word> = {
  /** Starts a text. */
  begin(): void
  /** Visits the next word. */
  visit(word: Known): void
}

/** Words per bucket: about 270 characters. Windows consist of whole buckets. */
const bucketWords = 48
/** How many words back the hit of a list counts as near another hit. */
const nearWords = 6
const pairSlots = 1024

export function createWalk<Known extends Word>(lexicon: Lexicon, listener: WalkListener<Known>): WordWalk<Known> {
  const hashes = new Int32Array(8)
  const lists = new Int32Array(8)
  const pairs = new Int32Array(pairSlots)
  let position = 0
  let bucket = 0

  const visitPair = (hash: number): void => {
    const mark = Math.imul(hash, 0x9e3779b1) ^ bucket
    const slot = hash & (pairSlots - 1)
    if (pairs[slot] === mark) return
    pairs[slot] = mark
    listener.pair(hash)
  }

  const visitLists = (hits: number): void => {
    if (hits === 0) return
    let recent = 0
    for (let back = 1; back <= Math.min(nearWords, position); back++) recent |= lists[(position - back) & 7] ?? 0
    listener.lists(hits, recent)
  }

  const phraseLists = (word: Known): number => {
    let hits = 0
    let phrase = hashNext(0, word.hash)
    for (let length = 2; length <= Math.min(longestPhrase, position + 1); length++) {
      if (word.phraseLengths >> length === 0) break
      phrase = hashNext(phrase, hashes[(position - length + 1) & 7] ?? 0)
      if ((word.phraseLengths & (1 << length)) !== 0) hits |= lexicon.listsOfPhrase(phrase)
    }
    return hits
  }

  return {
    begin() {
      position = 0
    },
    visit(word) {
      if (position % bucketWords === 0) {
        bucket = (bucket + 1) | 0
        listener.bucket()
      }
      const isNew = word.countedIn !== bucket
      if (isNew) {
        word.countedIn = bucket
        listener.word(word)
      }
      if (position > 0) visitPair(hashNext(hashes[(position - 1) & 7] ?? 0, word.hash))
      hashes[position & 7] = word.hash
      const phrases = word.phraseLengths === 0 ? 0 : phraseLists(word)
      lists[position & 7] = word.lists | phrases
      visitLists(isNew ? word.lists | phrases : phrases)
      position += 1
    },
  }
}
