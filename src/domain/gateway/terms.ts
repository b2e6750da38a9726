import { Fault, isFault } from '../../base/fault.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import { checkTerm, isExpression } from '../moderation/terms.ts'
import type { GivenConfiguration } from './complete.ts'

/** Both lists together: what is compiled while others wait must stay small. */
export const mostTermCharacters = 600_000
/** Patterns are looked for one by one, plain terms all at once. */
export const mostPatterns = 100

const lists = ['allowlist', 'denylist'] as const

/** Refuses terms that cannot be looked for, naming the first of them. `place` is what stands before `rules`, such as `config.`. */
export function requireTerms({ rules = {} }: GivenConfiguration, patterns: PatternEngine, place = ''): void {
  let characters = 0
  for (const name of lists) {
    const param = `${place}rules.${name}`
    const terms = rules[name] ?? []
    characters += terms.reduce((sum, { length }) => sum + length, 0)
    if (characters > mostTermCharacters) {
      throw invalid(param, `allowlist and denylist may have ${mostTermCharacters} characters together.`)
    }
    if (terms.filter(isExpression).length > mostPatterns) throw invalid(param, `may have ${mostPatterns} patterns.`)
    for (const [index, term] of terms.entries()) requireTerm(term, patterns, `${param}[${index}]`)
  }
}

function requireTerm(term: string, patterns: PatternEngine, param: string): void {
  try {
    checkTerm(term, patterns)
  } catch (cause) {
    if (!isFault(cause)) throw cause
    throw invalid(param, cause.message)
  }
}

const invalid = (param: string, message: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${message}`, { param })
