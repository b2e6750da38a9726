/**
 * Reads a text in normal form once, and reports hashed features of its words, sentence by sentence. The trainer and the detector
 * both use it, so they read the same features. It has a version, because a change here invalidates a trained model.
 */
import { classBits } from './word-classes.ts'

export const readerVersion = 2

/** Features are numbered by the lower bits of their hashes. */
const bucketBits = 16
export const buckets = 1 << bucketBits

export type ReadSentence = {
  /** The first `count` are the features of the sentence. The array is used again for the next one. */
  readonly features: Int32Array
  readonly count: number
  readonly words: number
  /** The classes of all its words. */
  readonly classes: number
}

export type OnSentence = (sentence: ReadSentence) => void

/** Longer sentences are cut. Text without any punctuation is still read in parts. */
const mostWords = 32
const mostFeatures = 256

const separator = 0
const letter = 1
/** Punctuation that counts as a word, because marks of roles and hidden text consist of it. */
const mark = 2
const end = 3
const escape = 4
const joint = 5

const kinds = new Uint8Array(128)
for (let code = 48; code <= 57; code++) kinds[code] = letter
for (let code = 97; code <= 122; code++) kinds[code] = letter
for (const sign of '<>[]#:|{}@/') kinds[sign.charCodeAt(0)] = mark
for (const sign of '.!?;\n') kinds[sign.charCodeAt(0)] = end
kinds['\\'.charCodeAt(0)] = escape
kinds["'".charCodeAt(0)] = joint

function kindOf(code: number): number {
  if (code < 128) return kinds[code] ?? separator
  if (code === 0x3002 || code === 0xff01 || code === 0xff1f) return end
  if (code < 0xc0 || (code >= 0x2000 && code < 0x2e80) || (code >= 0x3000 && code < 0x3040)) return separator
  return code < 0xd800 || code >= 0xf900 ? letter : separator
}

/** Kana and Han characters are words of their own, because no spaces separate words there. */
const isIdeograph = (code: number): boolean => code >= 0x3040 && code < 0xa000

const basis = 0x811c9dc5 | 0
const prime = 0x01000193
const startOfSentence = 0x5bd1e995 | 0

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return mixed ^ (mixed >>> 16)
}

const bucketOf = (hash: number): number => mix(hash) & (buckets - 1)

export function readText(text: string, onSentence: OnSentence): void {
  const sentence = new SentenceFeatures(onSentence)
  const { length } = text
  for (let at = 0; at < length;) {
    const code = text.charCodeAt(at)
    const kind = kindOf(code)
    if (kind === letter) {
      let hash = Math.imul(basis ^ code, prime)
      at += 1
      if (!isIdeograph(code))
        for (; at < length; at++) {
          const next = text.charCodeAt(at)
          const nextKind = kindOf(next)
          if ((nextKind !== letter && nextKind !== joint) || isIdeograph(next)) break
          hash = Math.imul(hash ^ next, prime)
        }
      sentence.add(hash)
      continue
    }
    at += 1
    if (kind === mark) sentence.addMark(code)
    else if (kind === escape) {
      at += 1
      if (!startsWithLetter(text, at)) sentence.end()
    } else if (kind === end && isEnd(code, text, at)) sentence.end()
  }
  sentence.end()
}

/** `at` is the position after the sign. A line that continues with a letter may be the rest of a sentence. */
function isEnd(sign: number, text: string, at: number): boolean {
  if (sign === lineFeed) return !startsWithLetter(text, at)
  return sign > 127 || at === text.length || text.charCodeAt(at) <= quotationMark
}

const lineFeed = 10
/** White space and quotation marks come before and at it. */
const quotationMark = 34

function startsWithLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 97 ? kindOf(code) === letter : false
}

/** The classes of words by hash, in an open-addressing table. */
const tableSize = 4_096
const tableHashes = new Int32Array(tableSize)
const tableClasses = new Int32Array(tableSize)
for (const [word, classes] of classBits) {
  const hash = hashOf(word)
  let at = hash & (tableSize - 1)
  while (tableClasses[at] !== 0) at = (at + 1) & (tableSize - 1)
  tableHashes[at] = hash
  tableClasses[at] = classes
}

function hashOf(word: string): number {
  let hash = basis
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), prime)
  return hash
}

function classesOf(hash: number): number {
  let at = hash & (tableSize - 1)
  for (;;) {
    const classes = tableClasses[at] ?? 0
    if (classes === 0 || tableHashes[at] === hash) return classes
    at = (at + 1) & (tableSize - 1)
  }
}

/** Turns words into features: each word, pairs of neighbours, pairs with one word between, and sequences of classes. */
class SentenceFeatures {
  readonly onSentence: OnSentence
  /** Hashes; the visitor gets them as buckets. */
  readonly features = new Int32Array(mostFeatures)
  count = 0
  last = startOfSentence
  beforeLast = 0
  lastClasses = 0
  words = 0
  classes = 0

  constructor(onSentence: OnSentence) {
    this.onSentence = onSentence
  }

  add(hash: number): void {
    const { features, last, beforeLast, lastClasses } = this
    let { count } = this
    features[count++] = hash
    features[count++] = Math.imul(last, 31) ^ hash
    if (beforeLast !== 0) features[count++] = Math.imul(beforeLast, 131) ^ hash ^ 0x2f0b4c47
    const classes = classesOf(hash)
    if (classes !== 0) {
      if (lastClasses !== 0) features[count++] = Math.imul(lastClasses, 31) ^ classes ^ 0x3c6ef372
      this.lastClasses = classes
      this.classes |= classes
    }
    this.count = count
    this.beforeLast = last
    this.last = hash
    this.words += 1
    if (this.words === mostWords || count > mostFeatures - 8) this.end()
  }

  /** Counts as a neighbour of the next word, and not as a word. */
  addMark(code: number): void {
    const hash = Math.imul(basis ^ code, prime)
    if (this.last === hash || this.count > mostFeatures - 8) return
    this.features[this.count++] = Math.imul(this.last, 31) ^ hash
    this.last = hash
  }

  end(): void {
    if (this.words > 0) {
      for (let at = 0; at < this.count; at++) this.features[at] = bucketOf(this.features[at] ?? 0)
      this.onSentence(this)
    }
    this.count = 0
    this.last = startOfSentence
    this.beforeLast = 0
    this.lastClasses = 0
    this.words = 0
    this.classes = 0
  }
}
