import { Fault } from '../../base/fault.ts'
import { namesAnything } from './rule-entities.ts'

/** A rule that begins so is an expression; any other is plain language. */
const expressionMark = 'cel:'

/** What an expression may ask about the text at hand, by the name it has there. */
export type RuleFacts = {
  readonly text: string
  readonly direction: string
  readonly model: string
  readonly project: string
  readonly user: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Moderation scores, 0 to 1, by category. */
  readonly categories: Readonly<Record<string, number>>
  /** How often each kind of personal data occurs. */
  readonly pii: Readonly<Record<string, number>>
}

/** Where an expression is wrong, and why. The first line and column are 1. */
export type ExpressionProblem = { readonly line: number; readonly column: number; readonly message: string }

/** Parses and type-checks an expression over the names of `RuleFacts`; its result must be a boolean or a number. */
export type CheckExpression = (expression: string) => ExpressionProblem | undefined

/** The expression in a rule, or undefined where the rule is plain language. */
export const expressionOf = (rule: string): string | undefined =>
  rule.startsWith(expressionMark) ? rule.slice(expressionMark.length) : undefined

/** Plain language is taken as it is; an expression must be one. Positions count from the rule's own beginning. */
export function checkRule(rule: string, check: CheckExpression): void {
  const expression = expressionOf(rule)
  const problem = expression === undefined ? undefined : check(expression)
  if (problem === undefined) return
  const column = problem.line === 1 ? problem.column + expressionMark.length : problem.column
  const message = `rule: line ${problem.line}, column ${column}: ${problem.message}`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'rule' })
}

/** Whether the service can tell if a text breaks this rule without asking a model. */
export const isEvaluable = (rule: string): boolean => expressionOf(rule) !== undefined || namesAnything(rule)
