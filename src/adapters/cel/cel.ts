import { Environment, type ASTNode, type TypeCheckResult } from '@marcbachmann/cel-js'
import type { Span } from '../../domain/scan/normalise/normalise.ts'
import { injectionPlaces } from '../../domain/scan/injection/places.ts'
import { personalDataKinds } from '../../domain/scan/detect/personal-data/kinds.ts'
import type { CompiledExpression, ExpressionResult } from '../../domain/policy/expression.ts'
import type { CheckExpression, ExpressionProblem, RuleFacts } from '../../domain/policy/rule.ts'
import { conditionOf } from './condition.ts'
import { findUnsupported } from './supported-functions.ts'
import { CostExceeded, createCostBudget, evaluationUnits } from './cost-budget.ts'
import { lookBehindOf } from './look-behind.ts'
import { createRulePatterns } from './rule-patterns.ts'
import type { ExpressionScope, EvaluateNode } from './scope.ts'
import { compileNode } from './interpreter.ts'
import { categoriesIn, injectionPlacesIn, namesIn } from './names.ts'
import { literalPatterns } from './tree.ts'
import { ExpressionError, type Fields } from './values.ts'

/** The variables of an expression, with their CEL types. */
const variables: Readonly<Record<keyof RuleFacts, string>> = {
  text: 'string',
  direction: 'string',
  model: 'string',
  project: 'string',
  user: 'string',
  metadata: 'map<string, dyn>',
  categories: 'map<string, double>',
  pii: 'map<string, int>',
  prompt_injection: 'map<string, double>',
}

/** Larger than any rule that a person writes; bounds time and stack. */
const limits = { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 32 }

/** `dyn` is the type of metadata, which is known only at evaluation. */
const resultTypes = new Set(['bool', 'int', 'double', 'dyn'])

/** Validates an expression before it is saved. */
export function createCelChecker(): CheckExpression {
  const environment = createEnvironment()
  return (expression) => problemOf(environment.check(expression), expression) ?? unsupportedIn(environment, expression)
}

export type CelExpression = Omit<CompiledExpression, 'evaluate'> & {
  /** `units` is the cost budget of the evaluation. */
  evaluate(facts: RuleFacts, units?: number): ExpressionResult
}

/**
 * The library parses and type-checks. Evaluation uses the interpreter in this folder, because the library's own has no cost limit
 * and backtracks in `matches`. The expression must have passed the checker.
 */
export function createCelCompiler(): (expression: string) => CelExpression {
  const environment = createEnvironment()
  return (expression) => {
    const { ast } = environment.parse(expression)
    const run = compileNode(ast)
    const patterns = createRulePatterns(literalPatterns(ast))
    const condition = conditionOf(ast, patterns)
    return {
      lookBehind: lookBehindOf(ast, patterns, condition !== undefined),
      names: namesIn(ast),
      categories: categoriesIn(ast),
      injectionPlaces: injectionPlacesIn(ast),
      condition,
      evaluate(facts, units = evaluationUnits) {
        const budget = createCostBudget(units)
        return resultOf(run, { facts: variablesOf(facts), patterns, budget, local: undefined })
      },
    }
  }
}

export function createEnvironment(): Environment {
  const environment = new Environment({ limits })
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type)
  return environment
}

const noPersonalData = Object.fromEntries(personalDataKinds.map((kind) => [kind, 0n]))

const noInjection = Object.fromEntries(injectionPlaces.map((place) => [place, 0]))

/** Cached, because every rule of a plan is evaluated on the same facts. */
const known = new WeakMap<RuleFacts, Fields>()

export function variablesOf(facts: RuleFacts): Fields {
  const fields = known.get(facts) ?? {
    ...facts,
    pii: countsOf(facts),
    prompt_injection: { ...noInjection, ...facts.prompt_injection },
  }
  known.set(facts, fields)
  return fields
}

/** Counts are CEL integers; a kind that was not found has the count 0. */
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
    // An error without a summary is a stack overflow of the parser on a long row of prefix operators.
    const message = error?.summary ?? 'The expression is nested too deeply.'
    return { ...positionOf(error?.range ?? nowhere, expression), message }
  }
  if (type !== undefined && resultTypes.has(type)) return undefined
  const whole = { start: 0, end: expression.length }
  const message = `The result must be a boolean or a number, and is of type ${type}.`
  return { ...positionOf(whole, expression), message }
}

const nowhere: Span = { start: 0, end: 0 }

function unsupportedIn(environment: Environment, expression: string): ExpressionProblem | undefined {
  const unsupported = findUnsupported(environment.parse(expression).ast)
  return unsupported && { ...positionOf(rangeOf(unsupported.node), expression), message: unsupported.message }
}

/** A method call starts at the name of the method. */
const rangeOf = ({ pos, range }: ASTNode): Span => ({ start: pos, end: range.end })

function positionOf({ start, end }: Span, expression: string): Omit<ExpressionProblem, 'message'> {
  const lines = expression.slice(0, start).split('\n')
  return { from: start, to: Math.max(start, end), line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 }
}
