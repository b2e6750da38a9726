import { Environment, type TypeCheckResult } from '@marcbachmann/cel-js'
import type { CheckExpression, ExpressionProblem, RuleFacts } from '../../domain/policy/rule.ts'

/** The names an expression may use, with their types in CEL. */
const variables: Readonly<Record<keyof RuleFacts, string>> = {
  text: 'string',
  direction: 'string',
  model: 'string',
  project: 'string',
  user: 'string',
  metadata: 'map<string, dyn>',
  categories: 'map<string, double>',
  pii: 'map<string, int>',
}

/** A rule is written by a person: what is larger than this was not, and would only cost time and stack. */
const limits = { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 32 }

/** `dyn` comes of metadata, whose types are only known when a request is at hand. */
const resultTypes = new Set(['bool', 'int', 'uint', 'double', 'dyn'])

export function createCelChecker(): CheckExpression {
  const environment = new Environment({ limits })
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type)
  return (expression) => problemOf(environment.check(expression), expression)
}

function problemOf({ valid, type, error }: TypeCheckResult, expression: string): ExpressionProblem | undefined {
  if (!valid) {
    // An error without a summary is the parser's stack that ran out on a row of prefix operators.
    const message = error?.summary ?? 'The expression is nested too deeply.'
    return { ...placeOf(error?.range?.start ?? 0, expression), message }
  }
  if (type !== undefined && resultTypes.has(type)) return undefined
  return { line: 1, column: 1, message: `The result must be a boolean or a number, and is of type ${type}.` }
}

function placeOf(offset: number, expression: string): { line: number; column: number } {
  const lines = expression.slice(0, offset).split('\n')
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 }
}
