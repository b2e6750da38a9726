import { errorCost, type CostBudget } from './cost-budget.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { ExpressionError, noOverload, type Fields } from './values.ts'

/** The scope of a node: the facts, and the names that enclosing macros have bound. */
export type ExpressionScope = {
  readonly facts: Fields
  readonly patterns: RulePatterns
  readonly budget: CostBudget
  readonly local: Local | undefined
}

export type Local = { readonly name: string; readonly value: unknown; readonly outer: Local | undefined }

/** A compiled node. */
export type EvaluateNode<Result = unknown> = (scope: ExpressionScope) => Result

export const withLocal = (scope: ExpressionScope, name: string, value: unknown): ExpressionScope => ({
  ...scope,
  local: { name, value, outer: scope.local },
})

/** A node whose result must be a boolean; `name` is the operator in the error. */
export function boolStep(step: EvaluateNode, name: string): EvaluateNode<boolean> {
  return (scope) => {
    const value = step(scope)
    if (typeof value !== 'boolean') throw noOverload(name, value)
    return value
  }
}

/** Returns an evaluation error as a value, for operators that can swallow it. `CostExceeded` is thrown on. */
export function attempt<Result>(step: EvaluateNode<Result>, scope: ExpressionScope): Result | ExpressionError {
  try {
    return step(scope)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    scope.budget.spend(errorCost)
    return error
  }
}
