import type { ASTNode } from '@marcbachmann/cel-js'
import { functions, stringMethods } from './functions.ts'
import { compileMacro } from './macros.ts'
import { binaryOperators, negated } from './operators.ts'
import { stepUnits } from './cost-budget.ts'
import { attempt, boolStep, type Local, type ExpressionScope, type EvaluateNode } from './scope.ts'
import { ExpressionError, fieldOf, noOverload, type Fields } from './values.ts'

/** Compiles a checked syntax tree into functions. Each charges the cost budget before it runs. */
export function compileNode(node: ASTNode): EvaluateNode {
  const run = stepOf(node)
  return (scope) => {
    scope.budget.spend(stepUnits)
    return run(scope)
  }
}

function stepOf(node: ASTNode): EvaluateNode {
  switch (node.op) {
    case 'value':
      return () => node.args
    case 'id':
      return ({ facts, local }) => lookup(node.args, facts, local)
    case '.':
      return fieldStep(node.args)
    case 'call':
      return compileMacro(node, compileNode) ?? callStep(node)
    case 'rcall':
      return compileMacro(node, compileNode) ?? methodStep(node)
    case 'list':
      return allOf(node.args)
    case 'map':
      return mapStep(node.args)
    case '?:':
      return choiceStep(node.args)
    case '||':
      return logicalStep(node.args, true)
    case '&&':
      return logicalStep(node.args, false)
    case '!_':
      return notStep(compileNode(node.args))
    case '-_':
      return minusStep(compileNode(node.args))
    case '.?':
    case '[?]':
      throw new ExpressionError(`${node.op} is not supported`)
    default:
      return binaryStep(node)
  }
}

function lookup(name: string, facts: Fields, local: Local | undefined): unknown {
  for (let at = local; at; at = at.outer) if (at.name === name) return at.value
  return fieldOf(facts, name)
}

function fieldStep([object, key]: readonly [ASTNode, string]): EvaluateNode {
  const objectOf = compileNode(object)
  return (scope) => fieldOf(objectOf(scope), key)
}

function allOf(nodes: readonly ASTNode[]): EvaluateNode<unknown[]> {
  const steps = nodes.map(compileNode)
  return (scope) => steps.map((step) => step(scope))
}

function mapStep(entries: readonly (readonly [ASTNode, ASTNode])[]): EvaluateNode {
  const keysOf = allOf(entries.map(([key]) => key))
  const valuesOf = allOf(entries.map(([, value]) => value))
  return (scope) => {
    const values = valuesOf(scope)
    const result: Record<string, unknown> = Object.create(null)
    for (const [at, key] of keysOf(scope).entries()) {
      if (typeof key !== 'string') throw noOverload('a key of a map', key)
      result[key] = values[at]
    }
    return result
  }
}

function choiceStep([condition, first, second]: readonly [ASTNode, ASTNode, ASTNode]): EvaluateNode {
  const conditionOf = boolStep(compileNode(condition), '?:')
  const [whenTrue, whenFalse] = [compileNode(first), compileNode(second)]
  return (scope) => (conditionOf(scope) ? whenTrue : whenFalse)(scope)
}

/** One true side decides `||` and one false side decides `&&`, even if the other side fails. */
function logicalStep([left, right]: readonly [ASTNode, ASTNode], decisive: boolean): EvaluateNode {
  const name = decisive ? '||' : '&&'
  const [leftOf, rightOf] = [boolStep(compileNode(left), name), boolStep(compileNode(right), name)]
  return (scope) => {
    const first = attempt(leftOf, scope)
    if (first === decisive || rightOf(scope) === decisive) return decisive
    if (first instanceof ExpressionError) throw first
    return !decisive
  }
}

function notStep(step: EvaluateNode): EvaluateNode {
  const valueOf = boolStep(step, '!')
  return (scope) => !valueOf(scope)
}

const minusStep =
  (step: EvaluateNode): EvaluateNode =>
  (scope) =>
    negated(step(scope))

function binaryStep(node: Extract<ASTNode, { op: keyof typeof binaryOperators }>): EvaluateNode {
  const operate = binaryOperators[node.op]
  const [leftOf, rightOf] = [compileNode(node.args[0]), compileNode(node.args[1])]
  return (scope) => operate({ left: leftOf(scope), right: rightOf(scope), budget: scope.budget })
}

function callStep({ args: [name, args] }: Extract<ASTNode, { op: 'call' }>): EvaluateNode {
  const call = functions[name]
  const [argument] = args
  if (!call || !argument) throw new ExpressionError(`${name}() is not supported`)
  const argumentOf = compileNode(argument)
  return (scope) => call(scope.budget, argumentOf(scope))
}

function methodStep({ args: [name, receiver, args] }: Extract<ASTNode, { op: 'rcall' }>): EvaluateNode {
  const receiverOf = compileNode(receiver)
  const { size } = functions
  if (name === 'size' && size) return (scope) => size(scope.budget, receiverOf(scope))
  const method = stringMethods[name]
  if (!method) throw new ExpressionError(`${name}() is not supported`)
  const argsOf = allOf(args)
  return (scope: ExpressionScope) => {
    const text = receiverOf(scope)
    if (typeof text !== 'string') throw noOverload(`${name}()`, text)
    return method(scope, text, argsOf(scope))
  }
}
