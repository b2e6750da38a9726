import { Environment, type ASTNode, type TypeCheckResult } from '@marcbachmann/cel-js'
import { personalDataKinds } from '../../domain/moderation/personal-data/kinds.ts'
import type { CompiledExpression, ExpressionResult } from '../../domain/policy/expression.ts'
import type { CheckExpression, ExpressionProblem, RuleFacts } from '../../domain/policy/rule.ts'
import { objectionTo } from './supported-functions.ts'
import { CostExceeded, createCostBudget, evaluationUnits } from './cost-budget.ts'
import { lookBehindOf } from './look-behind.ts'
import { createRulePatterns } from './rule-patterns.ts'
import type { ExpressionScope, EvaluateNode } from './scope.ts'
import { compileNode } from './interpreter.ts'
import { literalPatterns } from './tree.ts'
import { ExpressionError, type Fields } from './values.ts'

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
const resultTypes = new Set(['bool', 'int', 'double', 'dyn'])

/** Says what is wrong with an expression before it is saved. */
export function createCelChecker(): CheckExpression {
  const environment = createEnvironment()
  return (expression) => problemOf(environment.check(expression), expression) ?? objectionIn(environment, expression)
}

export type CelExpression = Pick<CompiledExpression, 'lookBehind'> & {
  /** `units` is what the evaluation may cost. */
  evaluate(facts: RuleFacts, units?: number): ExpressionResult
}

/**
 * The library reads and type-checks; what runs is ours, since its own evaluation knows no limit and backtracks in
 * `matches`. The expression has passed the checker.
 */
export function createCelCompiler(): (expression: string) => CelExpression {
  const environment = createEnvironment()
  return (expression) => {
    const { ast } = environment.parse(expression)
    const run = compileNode(ast)
    const patterns = createRulePatterns(literalPatterns(ast))
    return {
      lookBehind: lookBehindOf(ast),
      evaluate(facts, units = evaluationUnits) {
        const purse = createCostBudget(units)
        return resultOf(run, { facts: variablesOf(facts), patterns, purse, local: undefined })
      },
    }
  }
}

function createEnvironment(): Environment {
  const environment = new Environment({ limits })
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type)
  return environment
}

const noPersonalData = Object.fromEntries(personalDataKinds.map((kind) => [kind, 0n]))

/** Every rule is asked about the same facts. */
const known = new WeakMap<RuleFacts, Fields>()

function variablesOf(facts: RuleFacts): Fields {
  const named = known.get(facts) ?? { ...facts, pii: countsOf(facts) }
  known.set(facts, named)
  return named
}

/** Counts are whole numbers, and a kind that does not occur occurs zero times. */
const countsOf = ({ pii }: RuleFacts): Fields => ({
  ...noPersonalData,
  ...Object.fromEntries(Object.entries(pii).map(([kind, count]) => [kind, BigInt(count)])),
})

function resultOf(run: EvaluateNode, scope: ExpressionScope): ExpressionResult {
  try {
    return { value: run(scope) }
  } catch (error) {
    if (error instanceof CostExceeded) return { failed: 'expression_cost' }
    if (error instanceof ExpressionError) return { failed: 'expression_error' }
    throw error
  }
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

function objectionIn(environment: Environment, expression: string): ExpressionProblem | undefined {
  const objection = objectionTo(environment.parse(expression).ast)
  return objection && { ...placeOf(startOf(objection.node), expression), message: objection.message }
}

/** A method stands behind what it is called on, and is what the complaint is about. */
const startOf = (node: ASTNode): number => node.pos

function placeOf(offset: number, expression: string): { line: number; column: number } {
  const lines = expression.slice(0, offset).split('\n')
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 }
}
