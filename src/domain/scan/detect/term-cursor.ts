/** Reads the normal form of a text character by character and finds plain terms in it, at word boundaries. */
import type { Span } from '../normalise/normalise.ts'
import { createAutomaton, type Automaton } from './automaton.ts'
import { isWhiteSpace, isWordCode, space } from '../normalise/words.ts'

export type TermAutomaton = {
  /** The normal forms of the terms. */
  readonly words: readonly string[]
  readonly automaton: Automaton
  /** Length of the longest word. */
  readonly longest: number
  /** The columns of the automaton's rows by ASCII character, with all white space in the column of the space. */
  readonly columns: Uint8Array
}

/** Takes normal forms, distinct and not empty. */
export function createTermAutomaton(words: readonly string[]): TermAutomaton {
  const automaton = createAutomaton(words)
  const { columns } = automaton.rows
  return {
    words,
    automaton,
    longest: words.reduce((most, { length }) => Math.max(most, length), 0),
    columns: columns.map((column, code) => (isWhiteSpace(code) ? (columns[space] ?? 0) : column)),
  }
}

export type TermCursor = {
  readonly terms: TermAutomaton
  /** The words found so far, by index, each with its first match. */
  readonly found: Map<number, Span>
  state: number
  /** Characters of the normal form read so far, without those that were skipped. */
  read: number
  wasSpace: boolean
  wasWord: boolean
  /** For each of the last characters: twice its position in the source, plus 1 if a term may begin with it. */
  readonly starts: Int32Array
}

export function createTermCursor(terms: TermAutomaton): TermCursor {
  const starts = new Int32Array(2 ** Math.ceil(Math.log2(terms.longest + 1)))
  return { terms, found: new Map(), state: 0, read: 0, wasSpace: false, wasWord: false, starts }
}

/** A second cursor at the same position. Both add to the same words. */
export const copyTermCursor = (cursor: TermCursor): TermCursor => ({ ...cursor, starts: cursor.starts.slice() })

/** Reads one character of the normal form. A run of white space counts as one space. */
export function readCharacter(cursor: TermCursor, code: number, position: number): void {
  const isSpace = isWhiteSpace(code)
  if (isSpace && cursor.wasSpace) return
  const isWord = isWordCode(code)
  const isInsideWord = isWord && cursor.wasWord
  cursor.wasSpace = isSpace
  cursor.wasWord = isWord
  // No match can begin inside a word, so the automaton stays at its root.
  if (cursor.state === 0 && isInsideWord) return
  if (!isInsideWord) addWordsAtEnd(cursor, position)
  cursor.state = cursor.terms.automaton.step(cursor.state, isSpace ? space : code)
  if (cursor.state !== 0)
    cursor.starts[cursor.read & (cursor.starts.length - 1)] = position * 2 + (isInsideWord ? 0 : 1)
  cursor.read += 1
}

/** A chunk of the source, and the position of its start. */
export type SourceChunk = { readonly text: string; readonly start: number }

/**
 * Reads ASCII characters of a chunk as `readCharacter` does, from its position `from`. Returns the position of the first one that
 * it does not read: one beyond ASCII, or one in a state without a row.
 */
export function readAscii(cursor: TermCursor, { text, start }: SourceChunk, from: number): number {
  const { starts, terms } = cursor
  const { columns, automaton } = terms
  const { cells, width, states, deepRow } = automaton.rows
  const mask = starts.length - 1
  let { read, wasSpace, wasWord } = cursor
  if (cursor.state >= states) return from
  let row = cursor.state * width
  let isWordEnd = automaton.wordAt(cursor.state) >= 0
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) break
    const kind = asciiKinds[code]
    if (kind === blank && wasSpace) continue
    const isInsideWord = kind === letter && wasWord
    wasSpace = kind === blank
    wasWord = kind === letter
    if (row === 0 && isInsideWord) continue
    if (isWordEnd && !isInsideWord) {
      cursor.read = read
      addWordsAtEnd(cursor, start + at)
    }
    const next = cells[row + (columns[code] ?? 0)] ?? 0
    if (row === 0 && next > 0 && at + 1 < text.length) {
      // The second character rules out most words that begin like a term.
      const second = text.charCodeAt(at + 1)
      const after = second < 0x80 ? (cells[next + (columns[second] ?? 0)] ?? 0) : deepRow
      if (after >= 0 && after < deepRow) continue
    }
    if (next !== 0) starts[read & mask] = (start + at) * 2 + (isInsideWord ? 0 : 1)
    read += 1
    isWordEnd = next < 0
    row = next
    if (next >= 0) continue
    cursor.state = ~next
    row = ~next * width
    if (~next < states) continue
    row = -1
    at += 1
    break
  }
  if (row >= 0) cursor.state = row / width
  cursor.read = read
  cursor.wasSpace = wasSpace
  cursor.wasWord = wasWord
  return at
}

const other = 0
const letter = 1
const blank = 2
const asciiKinds = Uint8Array.from({ length: 0x80 }, (_, code) =>
  isWordCode(code) ? letter : isWhiteSpace(code) ? blank : other,
)

/** Adds the words that end with the last character, before `end`. Call only at a word boundary or at the end of the text. */
export function addWordsAtEnd(cursor: TermCursor, end: number): void {
  if (cursor.state === 0) return
  const { automaton, words } = cursor.terms
  for (let word = automaton.wordAt(cursor.state); word >= 0; word = automaton.shorterThan(word)) {
    const start = startOf(cursor, words[word]?.length ?? 0)
    if ((start & 1) === 1 && !cursor.found.has(word)) cursor.found.set(word, { start: start >> 1, end })
  }
}

/** The words in a complete text in normal form, each with its first match. */
export function findWords(terms: TermAutomaton, text: string): ReadonlyMap<number, Span> {
  const cursor = createTermCursor(terms)
  const chunk = { text, start: 0 }
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0x80) at = readAscii(cursor, chunk, at)
    if (at < text.length) readCharacter(cursor, text.charCodeAt(at), at)
  }
  addWordsAtEnd(cursor, text.length)
  return cursor.found
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
