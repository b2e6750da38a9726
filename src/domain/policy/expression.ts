import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { CompiledRule } from './compiled-rule.ts'
import type { RuleFacts } from './rule.ts'

/** The value of the expression, or the code of its failure. */
export type ExpressionResult = { readonly value: unknown } | { readonly failed: string }

export type CompiledExpression = Pick<
  CompiledRule,
  'lookBehind' | 'names' | 'categories' | 'injectionPlaces' | 'condition'
> & {
  /** Never throws and never rejects. */
  evaluate(facts: RuleFacts): MaybePromise<ExpressionResult>
}

/**
 * Compiles an expression that was checked when it was saved. Evaluation is bounded in time and memory; long evaluations
 * of different organizations are interleaved.
 */
export type CompileExpression = (expression: string, organizationId: string) => CompiledExpression

/** A part of an expression that decided its result. */
export type DecidingPart = {
  readonly source: string
  /** Undefined if it failed, or if it is a string. */
  readonly value: boolean | number | undefined
  /** The sides of a comparison that are no constants. */
  readonly operands: readonly { readonly source: string; readonly value: boolean | number | undefined }[]
}

/** Evaluates a checked expression part by part, to explain its result. */
export type ExplainExpression = (expression: string, facts: RuleFacts) => readonly DecidingPart[]
