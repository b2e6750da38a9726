import { Fault } from '../../base/fault.ts'
import type { InjectionScores } from '../scan/injection/places.ts'
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
  /** How likely the text is a prompt injection, 0 to 1, in each place where it is. A place that is missing has the score 0. */
  readonly prompt_injection?: InjectionScores
}

/** The position and message of an error. Lines and columns start at 1. */
export type ExpressionProblem = {
  /** The range of the error in UTF-16 code units from 0; `to` is exclusive. */
  readonly from: number
  readonly to: number
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Parses and type-checks an expression over `RuleFacts`. Its result must be a boolean or a number. */
export type CheckExpression = (expression: string) => ExpressionProblem | undefined

/** The expression of a rule, or undefined if the rule is plain language. */
export const expressionOf = (rule: string): string | undefined =>
  rule.startsWith(expressionPrefix) ? rule.slice(expressionPrefix.length) : undefined

/** The error in a rule that is an invalid expression. Positions count from the start of the rule. */
export function problemOfRule(rule: string, check: CheckExpression): ExpressionProblem | undefined {
  const expression = expressionOf(rule)
  const problem = expression === undefined ? undefined : check(expression)
  if (problem === undefined) return undefined
  const { length } = expressionPrefix
  const column = problem.line === 1 ? problem.column + length : problem.column
  return { ...problem, from: problem.from + length, to: problem.to + length, column }
}

/** Throws if the rule is an invalid expression. `param` is the name of the field that has the rule. */
export function checkRule(rule: string, check: CheckExpression, param = 'rule'): void {
  const problem = problemOfRule(rule, check)
  if (problem === undefined) return
  const message = `${param}: line ${problem.line}, column ${problem.column}: ${problem.message}`
  throw new Fault('validation', 'invalid_parameter', message, { param })
}

/** Throws if the guard of a judge is an invalid expression. An empty one is none. */
export function checkGuard(guard: string, check: CheckExpression, param = 'judge_when'): void {
  const problem = guard === '' ? undefined : check(guard)
  if (problem === undefined) return
  const message = `${param}: line ${problem.line}, column ${problem.column}: ${problem.message}`
  throw new Fault('validation', 'invalid_parameter', message, { param })
}

/** Whether the rule can be evaluated without a judge model. */
export const isEvaluable = (rule: string): boolean => expressionOf(rule) !== undefined || namesAnything(rule)
