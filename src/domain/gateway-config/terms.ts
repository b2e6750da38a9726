import { Fault, isFault } from '../../base/fault.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { checkTerm, isExpression } from '../moderation/terms.ts'
import type { GivenConfiguration } from './complete.ts'

/** What is compiled while others wait must stay small. Both lists together. */
export const mostTermCharacters = 600_000
/** Plain terms are looked for all at once, patterns one by one. In each list. */
export const mostPatterns = 100
/** A slice of text is then looked through in less than a second at the very worst. Both lists together. */
const mostPatternSize = 10_000

const lists = ['allowlist', 'denylist'] as const

/** Refuses terms that cannot be looked for, naming the first. `place` is what stands before `rules`, such as `config.`. */
export function requireTerms({ rules = {} }: GivenConfiguration, patterns: PatternEngine, place = ''): void {
  let characters = 0
  let size = 0
  for (const name of lists) {
    const param = `${place}rules.${name}`
    const terms = rules[name] ?? []
    characters += terms.reduce((sum, { length }) => sum + length, 0)
    requireAtMost(mostTermCharacters, characters, { param, what: 'characters in both lists together' })
    requireAtMost(mostPatterns, terms.filter(isExpression).length, { param, what: 'patterns' })
    for (const [index, term] of terms.entries()) {
      size += sizeOf(term, patterns, `${param}[${index}]`)
      requireAtMost(mostPatternSize, size, { param: `${param}[${index}]`, what: 'steps in all patterns together' })
    }
  }
}

function sizeOf(term: string, patterns: PatternEngine, param: string): number {
  try {
    return checkTerm(term, patterns)
  } catch (cause) {
    if (!isFault(cause)) throw cause
    throw invalid(param, cause.message)
  }
}

type Bounded = { readonly param: string; readonly what: string }

function requireAtMost(most: number, count: number, { param, what }: Bounded): void {
  if (count > most) throw invalid(param, `there may be ${most} ${what}.`)
}

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}`, { param })
