import type { SearchDetector } from '../../domain/scan/detect/detector.ts'
import type { PatternSet, SourcePattern } from '../../domain/scan/detect/patterns.ts'
import { codePointOf, isHighSurrogate, isLowSurrogate } from '../../domain/scan/normalise/code-units.ts'
import { createPatternAutomaton, type PatternAutomaton } from './pattern-automaton.ts'
import { compileProgram } from './pattern-program.ts'
import { estimatePatternSize } from './pattern-size.ts'

/** Larger sets are not searched in one pass. Twice this estimate is far below the limit of re2js. */
const maxInstructions = 20_000
/** States that one text may create, besides one per this many characters. A text that creates more ends the search. */
const maxNewStates = 1_000
const charactersPerNewState = 16
/** After this many ended searches the patterns are no longer searched in one pass: they have too many states. */
const maxFailures = 3

/** Compiles patterns that are valid into one automaton. */
export function compilePatternSet(patterns: readonly SourcePattern[]): PatternSet {
  const automaton = compileAutomaton(patterns)
  let failures = 0
  return {
    startDetector() {
      if (automaton === undefined || failures >= maxFailures) return startUnread()
      return startPatternDetector(automaton, () => (failures += 1))
    },
  }
}

function compileAutomaton(patterns: readonly SourcePattern[]): PatternAutomaton | undefined {
  const size = patterns.reduce((sum, { source }) => sum + estimatePatternSize(source), 0)
  return size > maxInstructions ? undefined : createPatternAutomaton(compileProgram(patterns), patterns.length)
}

/** A search that gave up before the first character. */
function startUnread(): SearchDetector {
  let unread = 0
  return {
    push: (text) => void (unread += text.length),
    matched: () => unread,
    settledTo: () => 0,
    end: () => undefined,
  }
}

function startPatternDetector(automaton: PatternAutomaton, onGiveUp: () => void): SearchDetector {
  const { asciiClasses } = automaton
  const found = new Set(automaton.start.hits)
  let state = automaton.start
  let length = 0
  let settledTo = 0
  /** The first half of a surrogate pair at the end of the text so far. */
  let lead = 0
  let newStates = 0
  let hasGivenUp = false
  /** The characters after the one at which the search gave up, and that one. */
  let unread = 0

  function read(rune: number): void {
    const runeClass = automaton.classOf(rune)
    let next = state.next[runeClass]
    if (next === undefined) {
      if (runeClass < 0 || ++newStates > maxNewStates + length / charactersPerNewState) return giveUp()
      next = automaton.advance(state, runeClass)
    }
    state = next
    for (const hit of state.hits) found.add(hit)
  }

  /** Reads ASCII characters that lead to known states without a match. Returns the position of the first other character. */
  function readKnown(text: string, from: number): number {
    if (lead !== 0) return from
    const start = length - from
    let current = state
    let settled = settledTo
    let at = from
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      const next = code < 128 ? current.next[asciiClasses[code] ?? 0] : undefined
      if (next === undefined || next.isHit) break
      current = next
      if (current.isIdle) settled = start + at + 1
    }
    state = current
    settledTo = settled
    length = start + at
    return at
  }

  function giveUp(): void {
    hasGivenUp = true
    onGiveUp()
  }

  function readUnit(code: number): void {
    if (lead !== 0) {
      const high = lead
      lead = 0
      if (isLowSurrogate(code)) return read(codePointOf(high, code))
      read(high)
    }
    if (isHighSurrogate(code)) lead = code
    else read(code)
  }

  return {
    push(text) {
      let at = 0
      while (at < text.length && !hasGivenUp) {
        at = readKnown(text, at)
        if (at === text.length) break
        readUnit(text.charCodeAt(at))
        at += 1
        length += 1
        if (state.isIdle && !hasGivenUp) settledTo = lead === 0 ? length : length - 1
      }
      if (hasGivenUp) unread += text.length - at + (unread === 0 ? 1 : 0)
    },
    matched: () => found.size + unread,
    settledTo: () => settledTo,
    end() {
      if (lead !== 0) read(lead)
      return hasGivenUp ? undefined : new Set([...found, ...automaton.hitsAtEnd(state)])
    },
  }
}
