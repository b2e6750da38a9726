import { lowerAscii } from '../normalise/code-units.ts'
import { createAutomaton, type Automaton } from './automaton.ts'
import type { SearchDetector } from './detector.ts'

/** Literals that are searched in one pass, in any case of ASCII letters. */
export type LiteralSet = {
  startDetector(): SearchDetector
  isAnyIn(text: string): boolean
}

/** Takes literals in the form of `foldLiteral`, distinct and not empty. */
export function compileLiterals(folded: readonly string[]): LiteralSet {
  const automaton = createAutomaton(folded)
  return {
    startDetector: () => startLiteralDetector(automaton),
    isAnyIn(text) {
      const detector = startLiteralDetector(automaton)
      detector.push(text)
      return detector.matched() > 0
    },
  }
}

/**
 * The form in which literals are searched. If a text contains a literal, as it is or in lower or upper case, then the form of
 * the text contains the form of the literal. Every character is folded alone, and to at least one character.
 */
export function foldLiteral(text: string): string {
  let folded = ''
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    folded += asciiForms.get(code) ?? String.fromCharCode(lowerAscii(code))
  }
  return folded
}

/** Characters beyond ASCII whose upper or lower case has ASCII letters, with these letters. */
const asciiForms: ReadonlyMap<number, string> = new Map([
  [0x00df, 'ss'],
  [0x0130, 'i'],
  [0x0131, 'i'],
  [0x0149, 'n'],
  [0x017f, 's'],
  [0x01f0, 'j'],
  [0x1e96, 'h'],
  [0x1e97, 't'],
  [0x1e98, 'w'],
  [0x1e99, 'y'],
  [0x1e9a, 'a'],
  [0x212a, 'k'],
  [0xfb00, 'ff'],
  [0xfb01, 'fi'],
  [0xfb02, 'fl'],
  [0xfb03, 'ffi'],
  [0xfb04, 'ffl'],
  [0xfb05, 'st'],
  [0xfb06, 'st'],
])

function startLiteralDetector(automaton: Automaton): SearchDetector {
  const { states, width, columns, cells } = automaton.rows
  const found = new Set<number>()
  let state = 0
  let length = 0
  /** The position never falls below this one. */
  let settledTo = 0

  function read(code: number): void {
    state = automaton.step(state, code)
    for (let word = automaton.wordAt(state); word >= 0; word = automaton.shorterThan(word)) found.add(word)
  }

  /** Reads ASCII characters until a literal ends. Returns the position of the first character that it has not read. */
  function readAscii(text: string, from: number): number {
    if (state >= states) return from
    let row = state * width
    let at = from
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const next = code < 0x80 ? (cells[row + (columns[code] ?? 0)] ?? 0) : -1
      if (next < 0) break
      row = next
    }
    state = row / width
    return at
  }

  /** A pending match has at most as many characters of the text as of the form. */
  const pendingStart = (): number => Math.max(settledTo, length - automaton.depthOf(state))

  function readUnit(code: number): void {
    const form = code < 0x80 ? undefined : asciiForms.get(code)
    if (form === undefined) return read(lowerAscii(code))
    settledTo = pendingStart()
    for (let at = 0; at < form.length; at++) read(form.charCodeAt(at))
  }

  return {
    push(text) {
      for (let at = 0; at < text.length;) {
        const next = readAscii(text, at)
        length += next - at
        at = next
        if (at === text.length) break
        readUnit(text.charCodeAt(at))
        at += 1
        length += 1
      }
    },
    matched: () => found.size,
    settledTo: pendingStart,
    end: () => found,
  }
}
