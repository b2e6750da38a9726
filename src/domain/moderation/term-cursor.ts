/** Reads the normal form of a text character by character and finds plain terms in it, at word boundaries. */
import type { Automaton } from './automaton.ts'
import { isWhiteSpace, isWordCode, space } from './words.ts'

export type TermAutomaton = {
  /** The normal forms of the terms. */
  readonly words: readonly string[]
  readonly automaton: Automaton
  /** Length of the longest word. */
  readonly longest: number
}

export type TermCursor = {
  readonly terms: TermAutomaton
  /** The words found so far, by index. */
  readonly found: Set<number>
  state: number
  /** Characters of the normal form read so far. */
  read: number
  wasSpace: boolean
  wasWord: boolean
  /** For each of the last characters: twice its position in the source, plus 1 if a term may begin with it. */
  readonly starts: Int32Array
}

export function createTermCursor(terms: TermAutomaton): TermCursor {
  const size = 2 ** Math.ceil(Math.log2(terms.longest + 1))
  return {
    terms,
    found: new Set(),
    state: 0,
    read: 0,
    wasSpace: false,
    wasWord: false,
    starts: new Int32Array(size),
  }
}

/** A second cursor at the same position. Both add to the same words. */
export const copyTermCursor = (cursor: TermCursor): TermCursor => ({ ...cursor, starts: cursor.starts.slice() })

/** Reads one character of the normal form. A run of white space counts as one space. */
export function readCharacter(cursor: TermCursor, code: number, position: number): void {
  const isSpace = code === space || isWhiteSpace(code)
  if (isSpace && cursor.wasSpace) return
  const isWord = isWordCode(code)
  const isInsideWord = isWord && cursor.wasWord
  cursor.wasSpace = isSpace
  cursor.wasWord = isWord
  // No match can begin inside a word, so the automaton stays at its root.
  if (cursor.state !== 0 || !isInsideWord) {
    if (!isInsideWord) addWordsAtEnd(cursor)
    cursor.state = cursor.terms.automaton.step(cursor.state, isSpace ? space : code)
    if (cursor.state !== 0)
      cursor.starts[cursor.read & (cursor.starts.length - 1)] = position * 2 + (isInsideWord ? 0 : 1)
  }
  cursor.read += 1
}

/** Adds the words that end with the last character. Call only at a word boundary or at the end of the text. */
export function addWordsAtEnd(cursor: TermCursor): void {
  if (cursor.state === 0) return
  const { automaton, words } = cursor.terms
  for (let word = automaton.wordAt(cursor.state); word >= 0; word = automaton.shorterThan(word)) {
    if (!cursor.found.has(word) && (startOf(cursor, words[word]?.length ?? 0) & 1) === 1) cursor.found.add(word)
  }
}

/** Start of the longest pending match, as a position in the source. Undefined if none is pending. */
export function pendingMatchStart(cursor: TermCursor): number | undefined {
  const { automaton } = cursor.terms
  for (let { state } = cursor; state !== 0; state = automaton.fallbackOf(state)) {
    const start = startOf(cursor, automaton.depthOf(state))
    if ((start & 1) === 1) return start >> 1
  }
  return undefined
}

/** The entry of `starts` for a match of this length that ends with the last character. */
const startOf = ({ starts, read }: TermCursor, matchLength: number): number =>
  starts[(read - matchLength) & (starts.length - 1)] ?? 0
