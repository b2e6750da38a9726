import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { LookBehind } from './compiled-rule.ts'
import type { RuleFacts } from './rule.ts'

/** What came out, whatever it is; or in a word why nothing did. */
export type ExpressionResult = { readonly value: unknown } | { readonly failed: string }

export type CompiledExpression = {
  readonly lookBehind: LookBehind
  /** Never throws and never rejects. */
  evaluate(facts: RuleFacts): MaybePromise<ExpressionResult>
}

/**
 * Compiles an expression that was checked when it was saved. Evaluation is bounded in time and memory; long evaluations of
 * different organizations take turns.
 */
export type CompileExpression = (expression: string, organizationId: string) => CompiledExpression
