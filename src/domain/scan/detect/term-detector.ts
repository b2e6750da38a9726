import { codePointOf, isHighSurrogate, isLowSurrogate, lowerAscii } from '../normalise/code-units.ts'
import { foldCodePoint } from '../normalise/confusables.ts'
import { isHomoglyphScript, latinHomoglyph } from '../normalise/normalise.ts'
import type { SearchDetector } from './detector.ts'
import {
  addWordsAtEnd,
  copyTermCursor,
  createTermCursor,
  pendingMatchStart,
  readAscii,
  readCharacter,
  type SourceChunk,
  type TermAutomaton,
  type TermCursor,
} from './term-cursor.ts'

/** The letters of a word from its first homoglyph on. */
type HomoglyphRun = { readonly codes: number[]; readonly positions: number[]; hasLatin: boolean }

/** A word of homoglyphs waits for its end. A longer one makes the search give up. */
const longestRun = 1_024

/**
 * Searches the normal form of a streamed text for plain terms, as the search of a complete text does. Homoglyphs are folded to
 * Latin letters or not, depending on the text around them. So from the first one on, the text is read twice: as if it were
 * Latin, and as if it were not. A term that is found in either reading counts.
 */
export function startTermDetector(terms: TermAutomaton): SearchDetector {
  const latin = createTermCursor(terms)
  let foreign: TermCursor | undefined
  let length = 0
  /** The first half of a surrogate pair at the end of the text so far. */
  let lead = 0
  let wasLatinLetter = false
  let run: HomoglyphRun | undefined
  let gaveUpAt: number | undefined

  function readCodePoint(code: number, position: number): void {
    const folded = foldCodePoint(code).toLowerCase()
    for (let at = 0; at < folded.length; at++) readFolded(folded.charCodeAt(at), position)
  }

  function readFolded(code: number, position: number): void {
    const isLatinLetter = isLatin(code)
    const isHomoglyph = code >= 0x80 && isHomoglyphScript(code)
    if (isHomoglyph && run === undefined) {
      foreign ??= copyTermCursor(latin)
      run = { codes: [], positions: [], hasLatin: wasLatinLetter }
    }
    if (run !== undefined) {
      if (isHomoglyph || isLatinLetter) return addToRun(run, code, position)
      endRun(run)
    }
    wasLatinLetter = isLatinLetter
    readCharacter(latin, code, position)
    if (foreign !== undefined) readCharacter(foreign, code, position)
  }

  function addToRun({ codes, positions }: HomoglyphRun, code: number, position: number): void {
    if (codes.push(code) > longestRun) gaveUpAt ??= pendingStart()
    positions.push(position)
  }

  /** Reads a word of homoglyphs: in Latin letters if each of its letters has one and the word or the text is Latin. */
  function endRun({ codes, positions, hasLatin }: HomoglyphRun): void {
    run = undefined
    const inLatin = codes.map((code) => (code < 0x80 ? code : latinHomoglyph(code)))
    const isFoldable = !inLatin.includes(undefined)
    const isMixed = hasLatin || codes.some((code) => code < 0x80)
    for (const [at, position] of positions.entries()) {
      const own = codes[at] ?? 0
      const folded = isFoldable ? (inLatin[at] ?? own) : own
      readCharacter(latin, folded, position)
      if (foreign !== undefined) readCharacter(foreign, isMixed ? folded : own, position)
    }
  }

  function pendingStart(): number {
    const read = lead === 0 ? length : length - 1
    const ofForeign = foreign === undefined ? undefined : pendingMatchStart(foreign)
    return Math.min(read, run?.positions[0] ?? read, pendingMatchStart(latin) ?? read, ofForeign ?? read)
  }

  function readUnit(code: number, position: number): void {
    if (lead !== 0) {
      const high = lead
      lead = 0
      if (isLowSurrogate(code)) return readCodePoint(codePointOf(high, code), position - 1)
      readCodePoint(high, position - 1)
    }
    if (code < 0x80) readFolded(lowerAscii(code), position)
    else if (isHighSurrogate(code)) lead = code
    else readCodePoint(code, position)
  }

  function readPlain(chunk: SourceChunk, from: number): number {
    const at = readAscii(latin, chunk, from)
    if (at > from) wasLatinLetter = isLatin(lowerAscii(chunk.text.charCodeAt(at - 1)))
    return at
  }

  return {
    push(text) {
      const chunk = { text, start: length }
      for (let at = 0; at < text.length && gaveUpAt === undefined; at++) {
        if (lead === 0 && foreign === undefined) at = readPlain(chunk, at)
        if (at === text.length) break
        length = chunk.start + at + 1
        readUnit(text.charCodeAt(at), chunk.start + at)
      }
      length = chunk.start + text.length
    },
    matched: () => latin.found.size + (gaveUpAt === undefined ? 0 : length - gaveUpAt),
    settledTo: () => gaveUpAt ?? pendingStart(),
    end() {
      if (lead !== 0) readCodePoint(lead, length - 1)
      if (run !== undefined) endRun(run)
      if (gaveUpAt !== undefined) return undefined
      addWordsAtEnd(latin, length)
      if (foreign !== undefined) addWordsAtEnd(foreign, length)
      return new Set(latin.found.keys())
    },
  }
}

/** A Latin letter in lower case. */
const isLatin = (code: number): boolean => code >= 97 && code <= 122
