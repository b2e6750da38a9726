import { itemUnits, writtenUnits, type CostBudget } from './cost-budget.ts'
import { ExpressionError, fieldOf, isEqual, isFields, isNumeric, noOverload } from './values.ts'

export type BinaryOperator = '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '[]'

type Operands = { readonly left: unknown; readonly right: unknown; readonly purse: CostBudget }

/** Every operator with two sides that both are always worked out. */
export const binaryOperators: Readonly<Record<BinaryOperator, (operands: Operands) => unknown>> = {
  '==': ({ left, right, purse }) => isEqual(left, right, purse),
  '!=': ({ left, right, purse }) => !isEqual(left, right, purse),
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

function isMember({ left, right, purse }: Operands): boolean {
  if (Array.isArray(right)) return right.some((item) => isEqual(left, item, purse))
  if (isFields(right)) return typeof left === 'string' && Object.hasOwn(right, left)
  throw noOverload('in', left, right)
}

const addNumbers = arithmetic('+', { ints: (left, right) => left + right, doubles: (left, right) => left + right })

function add(operands: Operands): unknown {
  const { left, right, purse } = operands
  if (typeof left === 'string' && typeof right === 'string') {
    purse.spend((left.length + right.length) * writtenUnits)
    return left + right
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    purse.spend((left.length + right.length) * itemUnits)
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

/** Whole numbers have 64 bits; what is larger would only cost more and more. */
export function checkedInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value
  throw new ExpressionError('a whole number has 64 bits at most')
}

/** NaN stands in no order to anything. */
function comparison(name: string, isTrue: (order: number) => boolean) {
  return ({ left, right, purse }: Operands): boolean => {
    if (isNumeric(left) && isNumeric(right))
      return isTrue(left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN)
    if (typeof left === 'string' && typeof right === 'string') {
      purse.spend(Math.min(left.length, right.length) / 8)
      return isTrue(left < right ? -1 : left > right ? 1 : 0)
    }
    if (typeof left === 'boolean' && typeof right === 'boolean') return isTrue(Number(left) - Number(right))
    throw noOverload(name, left, right)
  }
}
