import { RE2JS, RE2Set } from 're2js'
import type { PatternEngine } from '../../domain/moderation/patterns.ts'
import { estimatePatternSize } from './pattern-size.ts'

/** RE2 in JavaScript: no back-references, no look-around, and no pattern that can be made to hang. */
export const re2Patterns: PatternEngine = {
  compile(source, { ignoreCase }) {
    const pattern = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return {
      size: pattern.programSize(),
      find(text) {
        // The test alone runs on a far faster engine than the search for the place, and most texts do not match.
        if (!pattern.test(text)) return undefined
        const matcher = pattern.matcher(text)
        return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
      },
    }
  },
}

/** A pattern whose cost can be foretold: time is linear in the text and in its size. */
export type SizedPattern = {
  /** In instructions. */
  readonly size: number
  test(text: string): boolean
}

/** Patterns of people have some dozens of instructions. */
const mostInstructions = 1_000
/**
 * The fast engine makes states as it goes, and a hostile text makes it throw them away again. With little room it soon gives
 * up, and the steady engine takes over: thirty times better at the worst, and no worse for ordinary patterns.
 */
const stateBytes = 64 * 1024

/** Throws an Error that says what is wrong with the pattern. */
export function compileSized(source: string): SizedPattern {
  if (estimatePatternSize(source) > mostInstructions) throw new Error('the pattern is too large')
  const set = new RE2Set(RE2Set.UNANCHORED, 0, stateBytes)
  set.add(source)
  set.compile()
  const size = set.prog.numInst()
  if (size > mostInstructions * 4) throw new Error('the pattern is too large')
  return { size, test: (text) => set.match(text).length > 0 }
}
