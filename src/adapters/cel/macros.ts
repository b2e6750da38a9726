import type { ASTNode } from '@marcbachmann/cel-js'
import { itemUnits } from './cost-budget.ts'
import { attempt, boolStep, withLocal, type ExpressionScope, type EvaluateNode } from './scope.ts'
import { ExpressionError, isFields, itemsOf, noOverload } from './values.ts'

type Compile = (node: ASTNode) => EvaluateNode
type Call = Extract<ASTNode, { op: 'call' | 'rcall' }>

/** `bodies` are evaluated for each item, which is bound to `name`. */
type Loop = { readonly items: EvaluateNode; readonly name: string; readonly bodies: readonly EvaluateNode[] }

const loops: Readonly<Record<string, (loop: Loop) => EvaluateNode>> = {
  all: (loop) => quantifier(loop, false),
  exists: (loop) => quantifier(loop, true),
  exists_one: (loop) => (scope) => filtered(loop, scope).length === 1,
  filter: (loop) => (scope) => filtered(loop, scope),
  map: mapped,
}

/** Compiles a macro: a call whose arguments are expressions instead of values. Undefined for other calls. */
export function compileMacro(node: Call, compile: Compile): EvaluateNode | undefined {
  if (node.op === 'call') return node.args[0] === 'has' ? has(node.args[1], compile) : undefined
  const [name, receiver, [variable, ...bodies]] = node.args
  if (variable?.op !== 'id') return undefined
  if (name === 'bind' && receiver.op === 'id' && receiver.args === 'cel')
    return bind(variable.args, bodies.map(compile))
  return loops[name]?.({ items: compile(receiver), name: variable.args, bodies: bodies.map(compile) })
}

export const isMacro = (node: Call): boolean =>
  node.args[0] === 'has' || (node.op === 'rcall' && (node.args[0] === 'bind' || Object.hasOwn(loops, node.args[0])))

/** Only the last key may be missing. */
function has([field]: readonly ASTNode[], compile: Compile): EvaluateNode {
  if (field?.op !== '.') throw new ExpressionError('has() takes a field')
  const [object, key] = field.args
  const objectOf = compile(object)
  return (scope) => {
    const value = objectOf(scope)
    if (!isFields(value)) throw noOverload('has()', value)
    return Object.hasOwn(value, key)
  }
}

function bind(name: string, [value, body]: readonly EvaluateNode[]): EvaluateNode {
  if (!value || !body) throw new ExpressionError('cel.bind() takes a name, a value and an expression')
  return (scope) => body(withLocal(scope, name, value(scope)))
}

/** One true item decides `exists` and one false item decides `all`, even if others fail. */
function quantifier({ items, name, bodies }: Loop, decisive: boolean): EvaluateNode {
  const test = testOf(bodies)
  return (scope) => {
    let error: ExpressionError | undefined
    for (const item of chargedItems(items, scope)) {
      const result = attempt(test, withLocal(scope, name, item))
      if (result === decisive) return decisive
      if (result instanceof ExpressionError) error ??= result
    }
    if (error) throw error
    return !decisive
  }
}

function filtered({ items, name, bodies }: Loop, scope: ExpressionScope): unknown[] {
  const test = testOf(bodies)
  return chargedItems(items, scope).filter((item) => test(withLocal(scope, name, item)))
}

/** With three arguments, the middle one filters the items. */
function mapped({ items, name, bodies }: Loop): EvaluateNode {
  const [transform, ...tests] = bodies.toReversed()
  if (!transform) throw new ExpressionError('map() takes an expression')
  return (scope) => {
    const selected = tests.length === 0 ? chargedItems(items, scope) : filtered({ items, name, bodies: tests }, scope)
    return selected.map((item) => transform(withLocal(scope, name, item)))
  }
}

function testOf([test]: readonly EvaluateNode[]): EvaluateNode<boolean> {
  if (!test) throw new ExpressionError('a condition is missing')
  return boolStep(test, 'a condition')
}

function chargedItems(items: EvaluateNode, scope: ExpressionScope): readonly unknown[] {
  const list = itemsOf(items(scope))
  scope.budget.spend(list.length * itemUnits)
  return list
}
