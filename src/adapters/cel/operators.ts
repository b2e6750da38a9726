import { itemUnits, copyUnits, type CostBudget } from './cost-budget.ts'
import { ExpressionError, fieldOf, isEqual, isFields, isNumeric, noOverload } from './values.ts'

export type BinaryOperator = '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '[]'

type Operands = { readonly left: unknown; readonly right: unknown; readonly budget: CostBudget }

/** The binary operators that always evaluate both sides. */
export const binaryOperators: Readonly<Record<BinaryOperator, (operands: Operands) => unknown>> = {
  '==': ({ left, right, budget }) => isEqual(left, right, budget),
  '!=': ({ left, right, budget }) => !isEqual(left, right, budget),
  in: isMember,
  '+': add,
  '-': arithmetic('-', { ints: (left, right) => left - right, doubles: (left, right) => left - right }),
  '*': arithmetic('*', { ints: (left, right) => left * right, doubles: (left, right) => left * right }),
  '/': arithmetic('/', { ints: divide, doubles: (left, right) => left / right }),
  '%': arithmetic('%', { ints: remainder }),
  '<': comparison('<', (order) => order < 0),
  '<=': comparison('<=', (order) => order <= 0),
  '>': comparison('>', (order) => order > 0),
  '>=': comparison('>=', (order) => order >= 0),
  '[]': ({ left, right }) => fieldOf(left, right),
}

export function negated(value: unknown): unknown {
  if (typeof value === 'number') return -value
  if (typeof value === 'bigint') return checkedInt(-value)
  throw noOverload('-', value)
}

function isMember({ left, right, budget }: Operands): boolean {
  if (Array.isArray(right)) return right.some((item) => isEqual(left, item, budget))
  if (isFields(right)) return typeof left === 'string' && Object.hasOwn(right, left)
  throw noOverload('in', left, right)
}

const addNumbers = arithmetic('+', { ints: (left, right) => left + right, doubles: (left, right) => left + right })

function add(operands: Operands): unknown {
  const { left, right, budget } = operands
  if (typeof left === 'string' && typeof right === 'string') {
    budget.spend((left.length + right.length) * copyUnits)
    return left + right
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    budget.spend((left.length + right.length) * itemUnits)
    return [...left, ...right]
  }
  return addNumbers(operands)
}

type Arithmetic = {
  readonly ints: (left: bigint, right: bigint) => bigint
  readonly doubles?: (left: number, right: number) => number
}

function arithmetic(name: string, { ints, doubles }: Arithmetic) {
  return ({ left, right }: Operands): unknown => {
    if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(ints(left, right))
    if (doubles && typeof left === 'number' && typeof right === 'number') return doubles(left, right)
    throw noOverload(name, left, right)
  }
}

function divide(left: bigint, right: bigint): bigint {
  if (right === 0n) throw new ExpressionError('division by zero')
  return left / right
}

function remainder(left: bigint, right: bigint): bigint {
  if (right === 0n) throw new ExpressionError('division by zero')
  return left % right
}

/** Integers have 64 bits, as in CEL; larger ones would cost more and more. */
export function checkedInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value
  throw new ExpressionError('integer overflow')
}

/** Every comparison with NaN is false. */
function comparison(name: string, isTrue: (order: number) => boolean) {
  return ({ left, right, budget }: Operands): boolean => {
    if (isNumeric(left) && isNumeric(right))
      return isTrue(left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN)
    if (typeof left === 'string' && typeof right === 'string') {
      budget.spend(Math.min(left.length, right.length) / 8)
      return isTrue(left < right ? -1 : left > right ? 1 : 0)
    }
    if (typeof left === 'boolean' && typeof right === 'boolean') return isTrue(Number(left) - Number(right))
    throw noOverload(name, left, right)
  }
}
