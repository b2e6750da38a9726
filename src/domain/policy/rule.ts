import { Fault } from '../../base/fault.ts'
import { namesAnything } from './rule-entities.ts'

/** A rule with this prefix is an expression; any other rule is plain language. */
const expressionPrefix = 'cel:'

/** The variables of an expression, under the names they have there. */
export type RuleFacts = {
  readonly text: string
  readonly direction: string
  readonly model: string
  readonly project: string
  readonly user: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Moderation scores, 0 to 1, by category. */
  readonly categories: Readonly<Record<string, number>>
  /** Number of occurrences of each kind of personal data. */
  readonly pii: Readonly<Record<string, number>>
}

/** The position and message of an error in an expression. Lines and columns start at 1. */
export type ExpressionProblem = { readonly line: number; readonly column: number; readonly message: string }

/** Parses and type-checks an expression over `RuleFacts`. Its result must be a boolean or a number. */
export type CheckExpression = (expression: string) => ExpressionProblem | undefined

/** The expression of a rule, or undefined if the rule is plain language. */
export const expressionOf = (rule: string): string | undefined =>
  rule.startsWith(expressionPrefix) ? rule.slice(expressionPrefix.length) : undefined

/** Throws if the rule is an invalid expression. Positions in the message count from the start of the rule. */
export function checkRule(rule: string, check: CheckExpression): void {
  const expression = expressionOf(rule)
  const problem = expression === undefined ? undefined : check(expression)
  if (problem === undefined) return
  const column = problem.line === 1 ? problem.column + expressionPrefix.length : problem.column
  const message = `rule: line ${problem.line}, column ${column}: ${problem.message}`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'rule' })
}

/** Whether the rule can be evaluated without a judge model. */
export const isEvaluable = (rule: string): boolean => expressionOf(rule) !== undefined || namesAnything(rule)
