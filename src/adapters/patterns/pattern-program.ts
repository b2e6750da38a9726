import { RE2Set } from 're2js'
import type { SourcePattern } from '../../domain/scan/detect/patterns.ts'

/** A compiled pattern set of re2js: the instructions of a nondeterministic automaton. Instruction 0 always fails. */
export type PatternProgram = { readonly start: number; readonly instructions: readonly Instruction[] }

export type Instruction = {
  readonly op: number
  readonly out: number
  /** The second branch, the conditions of an empty match, or the index of the pattern that matches. */
  readonly arg: number
  readonly runes: ArrayLike<number>
  matchRune(rune: number): boolean
}

/** The operations of re2js, which it does not export. `pattern-set.test.ts` holds them against the installed version. */
export const operations = {
  branch: 1,
  branchOrMatch: 2,
  capture: 3,
  emptyMatch: 4,
  fail: 5,
  match: 6,
  nothing: 7,
  firstRune: 8,
  lastRune: 11,
} as const

/** The conditions of an empty match, as bits of `arg`. */
export const conditions = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const

/** A search needs no leading `.*`: it only keeps the search busy from the start of every line. */
const leadingWildcards = /^((?:\(\?[a-z]+\))?)(?:\.\*\??)+/

export function compileProgram(patterns: readonly SourcePattern[]): PatternProgram {
  const set = new RE2Set(RE2Set.UNANCHORED)
  for (const { source, ignoreCase } of patterns)
    set.add(`${ignoreCase ? '(?i)' : ''}${source.replace(leadingWildcards, '$1')}`)
  set.compile()
  return { start: set.prog.start, instructions: set.prog.inst }
}

const edges = conditions.beginLine | conditions.endLine | conditions.beginText | conditions.endText

/** Whether all matches of a pattern begin at the `start` of the text, or depend on an `other` start or end, also of a line. */
export type PatternAnchor = 'none' | 'start' | 'other'

export function anchorOf({ start, instructions }: PatternProgram): PatternAnchor {
  if (!isAnchored(instructions)) return 'none'
  const isOther = instructions.some(({ op, arg }) => op === operations.emptyMatch && (arg & edges & ~beginText) !== 0)
  return !isOther && beginsWithAnchor(instructions, start) ? 'start' : 'other'
}

/** True if every way through the program first requires the start of the text. */
function beginsWithAnchor(instructions: readonly Instruction[], start: number): boolean {
  const seen = new Set<number>()
  const open = [start]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const instruction = instructions[at]
    if (instruction === undefined || seen.has(at)) continue
    seen.add(at)
    const { op, out, arg } = instruction
    if (readsRune(instruction) || op === operations.match) return false
    if (op === operations.branch || op === operations.branchOrMatch) open.push(out, arg)
    else if (op !== operations.fail && !(op === operations.emptyMatch && (arg & beginText) !== 0)) open.push(out)
  }
  return true
}

const { beginText } = conditions

/** True if a match depends on the start or end of the text or of a line. */
export const isAnchored = (instructions: readonly Instruction[]): boolean =>
  instructions.some(({ op, arg }) => op === operations.emptyMatch && (arg & edges) !== 0)

export const readsRune = ({ op }: Instruction): boolean => op >= operations.firstRune && op <= operations.lastRune
