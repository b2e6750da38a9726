import { errorCost, type CostBudget } from './cost-budget.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { ExpressionError, noOverload, type Fields } from './values.ts'

/** What a step can see: the facts, and what the macros around it have named. */
export type ExpressionScope = {
  readonly facts: Fields
  readonly patterns: RulePatterns
  readonly purse: CostBudget
  readonly local: Local | undefined
}

export type Local = { readonly name: string; readonly value: unknown; readonly outer: Local | undefined }

/** A part of an expression, ready to run. */
export type EvaluateNode<Result = unknown> = (scope: ExpressionScope) => Result

export const withLocal = (scope: ExpressionScope, name: string, value: unknown): ExpressionScope => ({
  ...scope,
  local: { name, value, outer: scope.local },
})

/** A step whose result must be a boolean; `name` is who needs it. */
export function boolStep(step: EvaluateNode, name: string): EvaluateNode<boolean> {
  return (scope) => {
    const value = step(scope)
    if (typeof value !== 'boolean') throw noOverload(name, value)
    return value
  }
}

/** What went wrong is a result, for those who may do without. Running out of means is not. */
export function attempt<Result>(step: EvaluateNode<Result>, scope: ExpressionScope): Result | ExpressionError {
  try {
    return step(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    scope.purse.spend(errorCost)
    return error
  }
}
