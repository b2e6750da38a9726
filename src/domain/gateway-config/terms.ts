import { Fault, isFault } from '../../base/fault.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import { checkTerm, isExpression } from '../scan/detect/terms.ts'
import type { GivenConfiguration } from './complete.ts'

/** Of both lists together. Bounded because compiling blocks the event loop. */
export const mostTermCharacters = 600_000
/** Per list. Bounded because patterns are matched one by one, unlike plain terms. */
export const mostPatterns = 100
/** Of both lists together. With this bound, matching a slice of text takes less than a second in the worst case. */
const mostPatternSize = 10_000

const lists = ['allowlist', 'denylist'] as const

/** Throws for the first invalid term. `paramPrefix` stands before `rules` in the name of the field, such as `config.`. */
export function requireTerms({ rules = {} }: GivenConfiguration, patterns: PatternEngine, paramPrefix = ''): void {
  let characters = 0
  let size = 0
  for (const name of lists) {
    const param = `${paramPrefix}rules.${name}`
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
  if (count > most) throw invalid(param, `must not have more than ${most} ${what}.`)
}

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}`, { param })
