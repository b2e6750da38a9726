import { mistakeUnits, type Purse } from './purse.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { ExpressionError, noOverload, type Fields } from './values.ts'

/** What a step can see: the facts, and what the macros around it have named. */
export type Scope = {
  readonly facts: Fields
  readonly patterns: RulePatterns
  readonly purse: Purse
  readonly local: Local | undefined
}

export type Local = { readonly name: string; readonly value: unknown; readonly outer: Local | undefined }

/** A part of an expression, ready to run. */
export type Step<Result = unknown> = (scope: Scope) => Result

export const withLocal = (scope: Scope, name: string, value: unknown): Scope => ({
  ...scope,
  local: { name, value, outer: scope.local },
})

/** A step whose result must be a boolean; `name` is who needs it. */
export function boolStep(step: Step, name: string): Step<boolean> {
  return (scope) => {
    const value = step(scope)
    if (typeof value !== 'boolean') throw noOverload(name, value)
    return value
  }
}

/** What went wrong is a result, for those who may do without. Running out of means is not. */
export function attempt<Result>(step: Step<Result>, scope: Scope): Result | ExpressionError {
  try {
    return step(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    scope.purse.spend(mistakeUnits)
    return error
  }
}
