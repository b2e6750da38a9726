import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { LookBehind, RuleCondition, RuleName } from './compiled-rule.ts'
import type { RuleFacts } from './rule.ts'

/** The value of the expression, or the code of its failure. */
export type ExpressionResult = { readonly value: unknown } | { readonly failed: string }

export type CompiledExpression = {
  readonly lookBehind: LookBehind
  readonly names: readonly RuleName[]
  /** Undefined if none is known. */
  readonly condition: RuleCondition | undefined
  /** Never throws and never rejects. */
  evaluate(facts: RuleFacts): MaybePromise<ExpressionResult>
}

/**
 * Compiles an expression that was checked when it was saved. Evaluation is bounded in time and memory; long evaluations
 * of different organizations are interleaved.
 */
export type CompileExpression = (expression: string, organizationId: string) => CompiledExpression
