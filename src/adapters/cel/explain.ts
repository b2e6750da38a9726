import type { ASTNode } from '@marcbachmann/cel-js'
import type { DecidingPart, ExplainExpression } from '../../domain/policy/expression.ts'
import { createEnvironment, variablesOf } from './cel.ts'
import { CostExceeded, createCostBudget, requestThreadUnits } from './cost-budget.ts'
import { compileNode } from './interpreter.ts'
import { createRulePatterns } from './rule-patterns.ts'
import type { ExpressionScope } from './scope.ts'
import { literalPatterns } from './tree.ts'
import { ExpressionError } from './values.ts'

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])

/** All parts of an expression share one cost budget. Parts after its end are left out. */
export function createExplainExpression(): ExplainExpression {
  const environment = createEnvironment()
  return (expression, facts) => {
    const { ast } = environment.parse(expression)
    const patterns = createRulePatterns(literalPatterns(ast))
    const scope = {
      facts: variablesOf(facts),
      patterns,
      budget: createCostBudget(requestThreadUnits),
      local: undefined,
    }
    const parts: DecidingPart[] = []
    try {
      for (const part of decidingParts(ast, { expression, scope })) parts.push(part)
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error
    }
    return parts
  }
}

type Explained = { readonly expression: string; readonly scope: ExpressionScope }

/** Of `a || b` those that are true decide, or both if none is. Of `a && b` those that are false, or both. */
function* decidingParts(node: ASTNode, explained: Explained): Generator<DecidingPart> {
  const { scope } = explained
  switch (node.op) {
    case '||':
    case '&&': {
      const decisive = node.op === '||'
      const deciding = node.args.filter((arg) => valueOf(arg, scope) === decisive)
      for (const arg of deciding.length > 0 ? deciding : node.args) yield* decidingParts(arg, explained)
      return
    }
    case '!_':
      return yield* decidingParts(node.args, explained)
    case '?:': {
      const [condition, first, second] = node.args
      yield* decidingParts(condition, explained)
      const chosen = valueOf(condition, scope) === true ? first : second
      if (chosen.op !== 'value') yield* decidingParts(chosen, explained)
      return
    }
    default:
      yield partOf(node, explained)
  }
}

function partOf(node: ASTNode, { expression, scope }: Explained): DecidingPart {
  const operands = comparisons.has(node.op) ? (node.args as readonly ASTNode[]) : []
  return {
    source: sourceOf(node, expression),
    value: plainValue(valueOf(node, scope)),
    operands: operands
      .filter(({ op }) => op !== 'value')
      .map((operand) => ({ source: sourceOf(operand, expression), value: plainValue(valueOf(operand, scope)) }))
      .filter(({ value }) => value !== undefined),
  }
}

/** Undefined if the evaluation fails, as for a field that is missing. */
function valueOf(node: ASTNode, scope: ExpressionScope): unknown {
  try {
    return compileNode(node)(scope)
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

/** Strings are left out, because they may be parts of a text. */
const plainValue = (value: unknown): DecidingPart['value'] =>
  typeof value === 'bigint'
    ? Number(value)
    : typeof value === 'number' || typeof value === 'boolean'
      ? value
      : undefined

/** The parser leaves parentheses at the ends out, which makes `(a + b) > 1` start at `a`. */
function sourceOf({ range }: ASTNode, expression: string): string {
  const { start, end } = range
  const source = expression.slice(start, end)
  const depth = [...source].reduce((sum, letter) => sum + (letter === '(' ? 1 : letter === ')' ? -1 : 0), 0)
  if (depth < 0) return '('.repeat(-depth) + source
  return source + ')'.repeat(depth)
}
