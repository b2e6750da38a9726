import type { Reach } from './compiled-rule.ts'
import type { RuleFacts } from './rule.ts'

/** What came out, whatever it is; or in a word why nothing did. */
export type ExpressionResult = { readonly value: unknown } | { readonly failed: string }

export type CompiledExpression = { readonly reach: Reach; evaluate(facts: RuleFacts): ExpressionResult }

/** Compiles an expression that was checked when it was saved. Evaluation is bounded in time and memory. */
export type CompileExpression = (expression: string) => CompiledExpression
