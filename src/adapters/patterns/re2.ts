import { RE2JS, RE2Set } from 're2js'
import type { PatternEngine } from '../../domain/scan/detect/patterns.ts'
import { anchorOf, compileProgram, isAnchored, type PatternAnchor, type PatternProgram } from './pattern-program.ts'
import { compilePatternSet } from './pattern-set.ts'
import { estimatePatternSize } from './pattern-size.ts'
import { requiredLiteral } from './required-literal.ts'

/** RE2 in JavaScript: linear time for every pattern, without back-references and look-around. */
export const re2Patterns: PatternEngine = {
  compile(source, { ignoreCase }) {
    const pattern = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return {
      size: pattern.programSize(),
      isAnchored: isAnchored(compileProgram([{ source, ignoreCase }]).instructions),
      find(text) {
        // `test` runs on a much faster engine than the search for the position, and most texts do not match.
        if (!pattern.test(text)) return undefined
        const matcher = pattern.matcher(text)
        return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
      },
    }
  },
  compileSet: compilePatternSet,
}

/** A pattern with a predictable cost: time is linear in the text and in the size of the pattern. */
export type SizedPattern = {
  /** In instructions. */
  readonly size: number
  readonly anchor: PatternAnchor
  /** In every match, in any case of ASCII letters; undefined if none is known. */
  readonly literal: string | undefined
  test(text: string): boolean
}

/** Typical patterns have a few dozen instructions. */
const maxInstructions = 1_000
/**
 * Memory for the states of the fast (DFA) engine. A hostile text makes it discard states repeatedly. With little memory it soon
 * falls back to the NFA engine: thirty times faster in the worst case, and no slower for ordinary patterns.
 */
const stateBytes = 64 * 1024

/** Throws an Error that describes the fault in the pattern. */
export function compileSized(source: string): SizedPattern {
  if (estimatePatternSize(source) > maxInstructions) throw new Error('the pattern is too large')
  const set = new RE2Set(RE2Set.UNANCHORED, 0, stateBytes)
  set.add(source)
  set.compile()
  const size = set.prog.numInst()
  if (size > maxInstructions * 4) throw new Error('the pattern is too large')
  const program: PatternProgram = { start: set.prog.start, instructions: set.prog.inst }
  return {
    size,
    anchor: anchorOf(program),
    literal: requiredLiteral(program),
    test: (text) => set.match(text).length > 0,
  }
}
